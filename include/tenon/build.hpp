// Models to files, as `tenon compile` does it. In libtenon only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "tenon/model.hpp"

namespace tenon {
inline namespace v0 {

// Models to files, with names, groups, validation and a report; see tn_build_create for the options. In libtenon only.
//
//   tenon::Build build({{"output_dir", "out"}});
//   build.add("prefill.onnx").add("decode.onnx");
//   std::string report = build.run();
//
// Not movable: a listener may refer to it.
class Build {
 public:
  // The event, the number of the model or TN_BUILD_NO_MODEL, and the text. Must not throw.
  using Listener = std::function<void(tn_build_event, size_t, const std::string&)>;

  explicit Build(const Options& options = {}) {
    tn_build* build = nullptr;
    detail::check(tn_build_create(options.get(), &build));
    handle_.reset(build);
  }
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  Build& add(const std::string& path, const Options& options = {}) {
    detail::check(tn_build_add_model(get(), detail::c_text(path, "the path of a model"), options.get()));
    return *this;
  }
  Build& listen(Listener listener) {
    listener_ = std::move(listener);
    detail::check(tn_build_listen(
        get(),
        [](void* user, tn_build_event event, size_t model, const char* text) {
          const auto& self = *static_cast<const Build*>(user);
          if (self.listener_) self.listener_(event, model, text);
        },
        this));
    return *this;
  }
  // The steps; each does what comes before it.
  void prepare() { detail::check(tn_build_prepare(get())); }
  void load() { detail::check(tn_build_load(get())); }
  // The report as JSON, also when models fail.
  std::string run() {
    char* report = nullptr;
    detail::check(tn_build_run(get(), &report));
    return detail::take_text(report);
  }
  // From any thread.
  void cancel() { tn_build_cancel(get()); }

  size_t size() const { return tn_build_model_count(get()); }
  // The path that the result of a model gets, once names are chosen.
  std::string output(size_t model) const { return tn_build_output(get(), model); }
  std::string status(size_t model) const { return tn_build_status(get(), model); }
  std::string error(size_t model) const { return tn_build_error(get(), model); }
  // Nothing when it has failed or was not loaded yet.
  std::optional<Model> model(size_t model) const {
    tn_model* loaded = nullptr;
    detail::check(tn_build_model(get(), model, &loaded));
    return loaded ? std::optional(Model(loaded)) : std::nullopt;
  }
  tn_build* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_build, tn_build_release> handle_;
  Listener listener_;
};

// Compares a compiled model with the model it was made from; JSON, see tn_validate.
inline std::string validate(const std::string& model, const std::string& context, const Options& options = {}) {
  char* text = nullptr;
  detail::check(tn_validate(detail::c_text(model, "the path of a model"),
                            detail::c_text(context, "the path of a model"), options.get(), &text));
  return detail::take_text(text);
}
// The report of a build as one HTML page.
inline std::string report_html(const std::string& report) {
  char* html = nullptr;
  detail::check(tn_build_report_html(detail::c_text(report, "a report"), &html));
  return detail::take_text(html);
}
// The compile cache, as JSON: see tn_cache_describe and tn_cache_clear. "": the user's.
inline std::string cache_json(const std::string& folder = "") {
  char* text = nullptr;
  detail::check(tn_cache_describe(detail::c_text(folder, "the path of a folder"), &text));
  return detail::take_text(text);
}
inline std::string clear_cache(const std::string& folder = "") {
  char* text = nullptr;
  detail::check(tn_cache_clear(detail::c_text(folder, "the path of a folder"), &text));
  return detail::take_text(text);
}
inline std::string compilers_json() {
  char* text = nullptr;
  detail::check(tn_compilers_json(&text));
  return detail::take_text(text);
}

}  // namespace v0
}  // namespace tenon
