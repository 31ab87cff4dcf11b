#pragma once

#include "bindings.h"

// A session with what every run looks up.
struct NamedSession {
  NamedSession(tenon::Session made, std::vector<nanobind::object> given)
      : files(std::move(given)), session(std::move(made)) {
    for (size_t i = 0; i < session.input_count(); ++i) {
      index[decoded(session.input_name(i))] = i;
      required += !session.input_has_default(i);
    }
  }
  std::vector<nanobind::object> files;  // weights may be read where they are in them
  tenon::Session session;
  nanobind::dict index;  // input name -> position
  size_t required = 0;
};
