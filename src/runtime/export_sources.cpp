#include "runtime/export_sources.h"

#include <map>

#include "wire/npz.h"
#include "wire/safetensors.h"

namespace tenon {

Status export_sources(const Image& image, const std::string& path) {
  const auto& sources = image.contents().sources;
  std::vector<wire::NamedTensor> tensors;
  std::map<std::string, Hash128> known;
  std::string missing;
  for (size_t i = 0; i < sources.size(); ++i) {
    const SourceRecord& record = sources[i];
    // Literals are part of the plan, not of the user's weights.
    if (record.info.name.empty()) continue;
    // Nor has a file of weights strings: structure and labels, which stay what they are.
    if (record.info.dtype == DType::String) continue;
    const auto [it, is_new] = known.emplace(record.info.name, record.content);
    if (!is_new && it->second != record.content)
      return invalid_argument("two models have different weights called '{}'; export them one at a time",
                              record.info.name);
    if (!is_new) continue;
    auto tensor = image.source(i);
    if (tensor.ok())
      tensors.push_back({record.info.name, std::move(*tensor)});
    else
      missing += fmt::format("\n  '{}': {}", record.info.name, tensor.status().to_string());
  }
  if (!missing.empty()) return error(Code::NotFound, "some weights are not to be had:{}", missing);
  return wire::write_safetensors(path, tensors);
}

}  // namespace tenon
