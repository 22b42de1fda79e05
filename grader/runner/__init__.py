"""What runs inside the sandbox: a hand-in's cells, and its answers on named inputs.

It holds no reference value, and knows nothing of nbgrader or of the rest of `grader`: inside
the sandbox this folder and `attnlab` are all there is of the course.
"""

HOME = "/home/student"  # the one place inside the sandbox where a hand-in can write
