"""Facts about threads for the native part: which one handles signals, and when the interpreter ends."""

import atexit
import os
import threading

from . import _tenon

_tenon.set_main_thread(threading.main_thread().ident)
# The last of all exit functions, for it was registered first: the others may still run models in daemon threads.
atexit.register(_tenon.stop_other_threads)


def _in_child():
    # The thread that forks is the only one of the child, and its main thread.
    _tenon.set_main_thread(threading.get_ident())
    _tenon.forget_other_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
