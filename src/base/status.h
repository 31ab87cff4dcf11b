#pragma once

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tenon {

// Who is wrong, and so who can help.
#define TENON_ERROR_CODES(X)                                                       \
  X(Ok, "ok")                                                                      \
  X(InvalidArgument, "invalid argument") /* the caller's option, tensor or name */ \
  X(InvalidModel, "invalid model")       /* the file contradicts ONNX or itself */ \
  X(NotFound, "not found")               /* a file, tensor or name is missing */   \
  X(Unsupported, "unsupported")          /* valid, but Tenon cannot do it */       \
  X(Incompatible, "incompatible")        /* made by or for another version */      \
  X(ResourceLimit, "resource limit")     /* memory, iterations, nesting, size */   \
  X(GuardViolated, "guard violated")     /* new weights break an assumption */     \
  X(Cancelled, "cancelled")              /* the caller asked to stop */            \
  X(Io, "input/output error")            /* the operating system refused */        \
  X(Internal, "internal error")          /* our bug */

enum class Code {
#define X(name, text) name,
  TENON_ERROR_CODES(X)
#undef X
};

const char* code_name(Code code);

// The outcome of an operation that can fail. Ok costs one null pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);

  bool ok() const { return !detail_; }
  Code code() const { return detail_ ? detail_->code : Code::Ok; }
  // What is wrong and what to do, without the place.
  const std::string& message() const;
  // The place, outermost first: file, node, tensor.
  const std::string& where() const;
  // "<where>: <message>".
  std::string to_string() const;

  // Adds an enclosing place on the way up; does nothing to an ok status.
  Status in(const std::string& place) &&;

 private:
  struct Detail {
    Code code;
    std::string message;
    std::string where;
  };
  std::unique_ptr<Detail> detail_;

 public:
  Status(const Status& other) : detail_(other.detail_ ? std::make_unique<Detail>(*other.detail_) : nullptr) {}
  Status& operator=(const Status& other) {
    detail_ = other.detail_ ? std::make_unique<Detail>(*other.detail_) : nullptr;
    return *this;
  }
  Status(Status&&) = default;
  Status& operator=(Status&&) = default;
};

template <class... Args>
Status error(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, fmt::vformat(format, fmt::make_format_args(args...)));
}
template <class... Args>
Status invalid_model(fmt::format_string<Args...> format, Args&&... args) {
  return Status(Code::InvalidModel, fmt::vformat(format, fmt::make_format_args(args...)));
}
template <class... Args>
Status invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
  return Status(Code::InvalidArgument, fmt::vformat(format, fmt::make_format_args(args...)));
}
template <class... Args>
Status unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return Status(Code::Unsupported, fmt::vformat(format, fmt::make_format_args(args...)));
}

// A value or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

// Returns from the enclosing function with the error, if there is one.
#define TN_RETURN_IF_ERROR(expression)        \
  do {                                        \
    ::tenon::Status tn_status = (expression); \
    if (!tn_status.ok()) return tn_status;    \
  } while (false)

#define TN_CONCAT_(a, b) a##b
#define TN_CONCAT(a, b) TN_CONCAT_(a, b)
// TN_ASSIGN_OR_RETURN(auto x, f()): x is f()'s value, or the enclosing function returns f()'s error.
#define TN_ASSIGN_OR_RETURN(declaration, expression) \
  TN_ASSIGN_OR_RETURN_(TN_CONCAT(tn_result_, __LINE__), declaration, expression)
#define TN_ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) return std::move(result).status();        \
  declaration = std::move(result).value()

}  // namespace tenon
