"""What only graders have: the reference, the kept-back cases and the wrong answers by name."""

import sys

# nbformat's schema checker would load a parser of international web addresses, which takes longer
# than everything else here together; notebooks have none that it checks.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
