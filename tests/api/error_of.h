#pragma once

#include <tenon/tenon.hpp>

// The error that f throws; TN_OK when it throws none.
template <class F>
tenon::Error error_of(F&& f) {
  try {
    f();
  } catch (const tenon::Error& error) {
    return error;
  }
  return {TN_OK, "nothing was thrown"};
}

template <class F>
tn_code code_of(F&& f) {
  return error_of(f).code();
}
