#pragma once

#include <new>
#include <stdexcept>

#include "base/status.h"

namespace tenon {

// Runs f. Strings and lists take memory that no budget counts; when there is none left, that is an error of whoever
// asked for it, as it is for tensors. Anything else that is thrown is a mistake of ours, and ends the run alone.
template <class F>
auto within_memory(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return error(Code::ResourceLimit, "the operating system has no more memory");
  } catch (const std::length_error&) {
    return error(Code::ResourceLimit, "a text or list would be longer than memory can hold");
  } catch (const std::exception& e) {
    return error(Code::Internal, "unexpected exception: {}", e.what());
  }
}

}  // namespace tenon
