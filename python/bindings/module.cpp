#include <nanobind/stl/string.h>

#include "bindings.h"

NB_MODULE(_tenon, m) {
  m.doc() = "Native part of tenon. Use the tenon package.";
  m.def("version", &tenon::version);
  // What a program keeps until its end, in a thread that never ends for instance, is no leak to tell its user of. Tests
  // switch the report on.
  nanobind::set_leak_warnings(false);
  m.def("report_leaks", [] { nanobind::set_leak_warnings(true); });
  m.def("system_json", &tenon::system_json);
  bind_errors(m);
  bind_values(m);
  bind_models(m);
  bind_sessions(m);
  bind_artifacts(m);
  bind_builds(m);
  bind_interrupts(m);
  bind_lock(m);
}
