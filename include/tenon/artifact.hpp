// Compiled models: making, loading, saving and baking them.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/session.hpp"

namespace tenon {
inline namespace v0 {

// Files that are written but not yet under their names; they go unless they are published.
class Publication {
 public:
  explicit Publication(tn_publication* handle) : handle_(handle) {}
  std::string path(size_t model) const { return tn_publication_path(handle_.get(), model); }
  std::string weights_name() const { return tn_publication_weights_name(handle_.get()); }
  int64_t weights_bytes() const { return tn_publication_weights_bytes(handle_.get()); }
  void publish() { detail::check(tn_publication_publish(handle_.get())); }

 private:
  detail::Owner<tn_publication, tn_publication_release> handle_;
};

// Compiled models with their weights. Immutable.
class Artifact {
 public:
  // In libtenon only.
  static Artifact compile(std::span<const std::pair<std::string, const Model*>> models, const Options& options = {},
                          const Context* context = nullptr) {
    std::vector<const tn_model*> handles;
    std::vector<const char*> names;
    for (const auto& [name, model] : models) {
      handles.push_back(model->get());
      names.push_back(detail::c_text(name, "the name of a model"));
    }
    return made([&](tn_artifact** a) {
      return tn_compile(handle_of(context), handles.data(), names.data(), handles.size(), options.get(), a);
    });
  }
  static Artifact compile(const std::string& name, const Model& model, const Options& options = {},
                          const Context* context = nullptr) {
    const std::pair<std::string, const Model*> one(name, &model);
    return compile(std::span(&one, 1), options, context);
  }
  // Context files that share one weights file.
  static Artifact load(std::span<const std::string> paths, const Options& options = {},
                       const Context* context = nullptr) {
    const std::vector<const char*> texts = detail::c_texts(paths, "the path of a model");
    return made([&](tn_artifact** a) {
      return tn_artifact_load(handle_of(context), texts.data(), texts.size(), options.get(), a);
    });
  }
  static Artifact load(const std::string& path, const Options& options = {}, const Context* context = nullptr) {
    return load(std::span(&path, 1), options, context);
  }
  // One context file in memory, which is copied. Its weights are embedded, or in the folder.
  static Artifact from_memory(std::string_view bytes, const std::string& folder = "", const Options& options = {},
                              const Context* context = nullptr) {
    return made([&](tn_artifact** a) {
      return tn_artifact_load_memory(handle_of(context), bytes.data(), bytes.size(),
                                     detail::c_text(folder, "the path of a folder"), options.get(), a);
    });
  }

  std::vector<std::string> models() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tn_artifact_model_count(get()); ++i) names.emplace_back(tn_artifact_model_name(get(), i));
    return names;
  }
  // The number of the model of this name.
  size_t position(const std::string& model) const {
    std::string known;
    for (size_t i = 0; i < tn_artifact_model_count(get()); ++i) {
      const std::string name = tn_artifact_model_name(get(), i);
      if (name == model) return i;
      known += (i ? ", '" : "'") + name + "'";
    }
    throw Error(TN_NOT_FOUND, "the artifact has no model '" + model + "'; it has " + known);
  }
  std::string describe(const std::string& sections = "models") const {
    char* text = nullptr;
    detail::check(tn_artifact_describe(get(), detail::c_text(sections, "sections"), &text));
    return detail::take_text(text);
  }
  std::string verify() const {
    char* text = nullptr;
    detail::check(tn_artifact_verify(get(), &text));
    return detail::take_text(text);
  }
  // *report is one JSON object per model, in a list.
  Artifact bake(const Source& source, const Options& options = {}, std::string* report = nullptr,
                const Context* context = nullptr) const {
    char* text = nullptr;
    Artifact baked = made([&](tn_artifact** a) {
      return tn_artifact_bake(handle_of(context), get(), source.get(), options.get(), a, &text);
    });
    std::string taken = detail::take_text(text);
    if (report) *report = std::move(taken);
    return baked;
  }
  Artifact strip() const {
    return made([&](tn_artifact** a) { return tn_artifact_strip(get(), a); });
  }
  void export_sources(const std::string& path) const {
    detail::check(tn_artifact_export(get(), detail::c_text(path, "the path of weights")));
  }
  // Context files of these names, one per model and in their order, and one weights file in a folder.
  void save(const std::string& folder, std::span<const std::string> names, const Options& options = {}) const {
    const std::vector<const char*> texts = detail::c_texts(names, "the name of a file");
    detail::check(tn_artifact_save(get(), detail::c_text(folder, "the path of a folder"), texts.data(), texts.size(),
                                   options.get()));
  }
  // Files that have the names of the models: <model>_ctx.onnx. A template, so that `{}` goes on to mean no names.
  template <std::same_as<Options> Settings>
  void save(const std::string& folder, const Settings& options) const {
    std::vector<std::string> names = models();
    for (std::string& name : names) name += "_ctx.onnx";
    save(folder, names, options);
  }
  void save(const std::string& folder) const { save(folder, Options()); }
  // The same in two steps.
  Publication stage(const std::string& folder, std::span<const std::string> names, const Options& options = {}) const {
    const std::vector<const char*> texts = detail::c_texts(names, "the name of a file");
    tn_publication* publication = nullptr;
    detail::check(tn_artifact_stage(get(), detail::c_text(folder, "the path of a folder"), texts.data(), texts.size(),
                                    options.get(), &publication));
    return Publication(publication);
  }
  Session session(size_t model = 0, const Options& options = {}, const Context* context = nullptr) const {
    tn_session* session = nullptr;
    detail::check(tn_artifact_session(handle_of(context), get(), model, options.get(), &session));
    return Session(session);
  }
  Session session(const std::string& model, const Options& options = {}, const Context* context = nullptr) const {
    return session(position(model), options, context);
  }
  Weights weights(size_t model = 0) const {
    tn_weights* weights = nullptr;
    detail::check(tn_artifact_weights(get(), model, &weights));
    return Weights(weights);
  }
  Weights weights(const std::string& model) const { return weights(position(model)); }
  tn_artifact* get() const { return handle_.get(); }

 private:
  explicit Artifact(tn_artifact* handle) : handle_(handle) {}
  static tn_context* handle_of(const Context* context) { return context ? context->get() : nullptr; }
  template <class Make>
  static Artifact made(Make&& make) {
    tn_artifact* artifact = nullptr;
    detail::check(make(&artifact));
    return Artifact(artifact);
  }
  detail::Owner<tn_artifact, tn_artifact_release> handle_;
};

}  // namespace v0
}  // namespace tenon
