"""Run -> plain data -> one self-contained page; every figure of the package is drawn here."""
