#include <nanobind/stl/string.h>

#include "bindings.h"

NB_MODULE(_tenon, m) {
  m.doc() = "Native part of tenon. Use the tenon package.";
  m.def("version", &tenon::version);
  m.def("system_json", &tenon::system_json);
  bind_errors(m);
  bind_values(m);
  bind_models(m);
  bind_sessions(m);
  bind_artifacts(m);
  bind_interrupts(m);
  bind_lock(m);
}
