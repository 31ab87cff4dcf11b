#pragma once

#include <type_traits>
#include <utility>

namespace tenon {

template <class Signature>
class FunctionRef;

// A callable that somebody else owns and keeps alive for the call. Two pointers, no allocation.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>>>
  FunctionRef(F&& function)
      : object_(const_cast<void*>(static_cast<const void*>(&function))), call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace tenon
