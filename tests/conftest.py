"""What holds for all tests: Ctrl-C reaches them, however they were started."""

from __future__ import annotations

import signal

# A shell that starts a program in the background has it ignore Ctrl-C, and so do the programs that
# it starts in turn. Tests press Ctrl-C in both.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
