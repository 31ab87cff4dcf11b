// Where new weights come from.
#include "base/folder.h"
#include "runtime/api/artifact_handles.h"

using namespace tenon;

namespace tenon::api {

Result<std::shared_ptr<const WeightSource>> weight_source(const tn_source& source,
                                                          const std::shared_ptr<const SourceLayout>& layout) {
  if (source.source) return source.source;
  if (source.folder.empty()) return std::shared_ptr<const WeightSource>(weights_in_memory(source.tensors, false));
  if (!layout || layout->empty())
    return invalid_argument("'{}' is a folder, but the files that the weights came from are not known; name a file",
                            source.folder);
  TN_ASSIGN_OR_RETURN(auto opened, weights_in_folder(source.folder, *layout));
  return std::shared_ptr<const WeightSource>(std::move(opened));
}

}  // namespace tenon::api

extern "C" {

tn_status* tn_source_open(const char* path, tn_source** source) {
  return api::guarded([&]() -> Status {
    if (!path || !source) return invalid_argument("path and source must not be NULL");
    auto made = std::make_unique<tn_source>();
    if (is_folder(path)) {
      made->folder = path;
    } else {
      TN_ASSIGN_OR_RETURN(auto opened, open_weight_source(path));
      made->source = std::move(opened);
      made->names = made->source->names();
    }
    *source = made.release();
    return {};
  });
}

tn_source* tn_source_create(void) { return new (std::nothrow) tn_source(); }

tn_status* tn_source_add(tn_source* source, const char* name, const tn_value* value) {
  return api::guarded([&]() -> Status {
    if (!source || !name || !value) return invalid_argument("source, name and value must not be NULL");
    if (source->source || !source->folder.empty())
      return invalid_argument("weights cannot be added to a source that is a file; create a source in memory");
    const Tensor* tensor = value->value.tensor();
    if (!tensor) return invalid_argument("the weight '{}' must be a tensor", name);
    if (source->tensors.insert_or_assign(name, *tensor).second) source->names.emplace_back(name);
    return {};
  });
}

void tn_source_release(tn_source* source) { delete source; }
size_t tn_source_count(const tn_source* source) { return source ? source->names.size() : 0; }
const char* tn_source_name(const tn_source* source, size_t index) {
  return index < tn_source_count(source) ? source->names[index].c_str() : nullptr;
}

}  // extern "C"
