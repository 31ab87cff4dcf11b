// Options by name, and the context that sessions share.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/value.hpp"

namespace tenon {
inline namespace v0 {

// Keys and values for loading models and making sessions.
class Options {
 public:
  Options() : handle_(tn_options_create()) {}
  Options(std::initializer_list<std::pair<std::string, std::string>> values) : Options() {
    for (const auto& [key, value] : values) set(key, value);
  }
  Options& set(const std::string& key, const std::string& value) {
    detail::check(
        tn_options_set(get(), detail::c_text(key, "the name of an option"), detail::c_text(value, "an option")));
    return *this;
  }
  Options& set_weight(const std::string& name, const Value& value) {
    detail::check(tn_options_set_weight(get(), detail::c_text(name, "the name of a weight"), value.get()));
    return *this;
  }
  // The bytes must outlive the model.
  Options& add_file(const std::string& name, std::string_view bytes) {
    detail::check(tn_options_add_file(get(), detail::c_text(name, "the name of a file"), bytes.data(), bytes.size()));
    return *this;
  }
  tn_options* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_options, tn_options_release> handle_;
};

// What sessions share.
class Context {
 public:
  explicit Context(const Options& options = {}) {
    tn_context* context = nullptr;
    detail::check(tn_context_create(options.get(), &context));
    handle_.reset(context);
  }
  int threads() const { return tn_context_threads(get()); }
  // What the machine does at most with them; see tn_machine_speed_json.
  std::string machine_speed_json() const {
    char* text = nullptr;
    detail::check(tn_machine_speed_json(get(), &text));
    return detail::take_text(text);
  }
  tn_context* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_context, tn_context_release> handle_;
};

}  // namespace v0
}  // namespace tenon
