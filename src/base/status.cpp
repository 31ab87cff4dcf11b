#include "base/status.h"

namespace tenon {

const char* code_name(Code code) {
  switch (code) {
#define X(name, text) \
  case Code::name:    \
    return text;
    TENON_ERROR_CODES(X)
#undef X
  }
  return "unknown";
}

namespace {
const std::string kEmpty;
}

Status::Status(Code code, std::string message)
    : detail_(std::make_unique<Detail>(Detail{code, std::move(message), {}})) {}

const std::string& Status::message() const { return detail_ ? detail_->message : kEmpty; }
const std::string& Status::where() const { return detail_ ? detail_->where : kEmpty; }

std::string Status::to_string() const {
  if (ok()) return "ok";
  return detail_->where.empty() ? detail_->message : detail_->where + ": " + detail_->message;
}

Status Status::in(const std::string& place) && {
  if (detail_ && !place.empty()) detail_->where = detail_->where.empty() ? place : place + ": " + detail_->where;
  return std::move(*this);
}

}  // namespace tenon
