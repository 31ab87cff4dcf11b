#pragma once

#include "artifact/image.h"
#include "base/thread_pool.h"
#include "compiler/compile.h"
#include "compiler/model_content.h"

namespace tenon {

// What a later partial swap can draw on.
enum class KeepSources : uint8_t { Reference, Embed, None };

struct ModelToBuild {
  std::string name;  // unique in the group
  std::shared_ptr<const ImportedModel> model;
  std::shared_ptr<const ModelContent> content;
  CompileOptions options;
  CompiledModel compiled;
  Hash128 made_from;
  double seconds = 0;  // that compiling it took
};

struct BuildOptions {
  KeepSources sources = KeepSources::Reference;
  bool defer_weights = false;  // leave everything open that depends on weights
  std::shared_ptr<ThreadPool> pool;
};

// Models with their weights still to be computed: each packed tensor when it is asked for. Models and records are in
// an order that does not depend on the order of the models here.
Result<std::shared_ptr<const Image>> build_image(std::vector<ModelToBuild> models, const BuildOptions& options);

}  // namespace tenon
