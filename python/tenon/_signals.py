"""Which thread handles signals: the native part asks for them there while a model runs."""

import os
import threading

from . import _tenon

_tenon.set_main_thread(threading.main_thread().ident)
if hasattr(os, "register_at_fork"):
    # The thread that forks is the main thread of the child.
    os.register_at_fork(after_in_child=lambda: _tenon.set_main_thread(threading.get_ident()))
