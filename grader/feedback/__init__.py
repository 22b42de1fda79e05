"""The page a student gets back: made by nbgrader's generate_feedback, drawn by this package."""
