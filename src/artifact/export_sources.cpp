#include "artifact/export_sources.h"

#include <map>

#include "wire/npz.h"
#include "wire/safetensors.h"

namespace tenon {

Status export_sources(const Image& image, const std::string& path) {
  const auto& sources = image.contents().sources;
  std::vector<wire::NamedTensor> tensors;
  std::map<std::string, Hash128> known;
  std::string missing, unwritable;
  for (size_t i = 0; i < sources.size(); ++i) {
    const SourceRecord& record = sources[i];
    // Literals are part of the plan, not of the user's weights.
    if (record.info.name.empty()) continue;
    if (!wire::safetensors_has(record.info.dtype)) {
      unwritable += fmt::format("\n  '{}': {}", record.info.name, dtype_name(record.info.dtype));
      continue;
    }
    const auto [it, is_new] = known.emplace(record.info.name, record.content);
    if (!is_new && it->second != record.content)
      return invalid_argument("two models have different weights named '{}'; export the models one at a time",
                              record.info.name);
    if (!is_new) continue;
    auto tensor = image.source(i);
    if (tensor.ok())
      tensors.push_back({record.info.name, std::move(*tensor)});
    else
      missing += fmt::format("\n  '{}': {}", record.info.name, tensor.status().to_string());
  }
  if (!unwritable.empty())
    return unsupported("safetensors cannot store these weights, so nothing was written:{}", unwritable);
  if (!missing.empty())
    return error(Code::NotFound,
                 "the compiled model does not contain these weights, and the files they came from were not found "
                 "beside it; name the folder of these files with the option 'source_dir':{}",
                 missing);
  return wire::write_safetensors(path, tensors);
}

}  // namespace tenon
