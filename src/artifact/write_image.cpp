#include "artifact/write_image.h"

#include <algorithm>
#include <tuple>

#include "artifact/record_order.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

// Hands out the stored bytes of one tensor at a time.
class OneAtATime {
 public:
  explicit OneAtATime(std::function<Result<Tensor>(size_t)> tensor_of) : tensor_of_(std::move(tensor_of)) {}
  Result<std::string_view> operator()(size_t index) {
    tensor_ = Tensor();
    TN_ASSIGN_OR_RETURN(tensor_, tensor_of_(index));
    return stored_bytes(tensor_, scratch_);
  }

 private:
  std::function<Result<Tensor>(size_t)> tensor_of_;
  Tensor tensor_;
  std::string scratch_;
};

void place_packed(const Image& image, bool only_changes, ArtifactContents& contents) {
  for (size_t i = 0; i < contents.packed.size(); ++i) {
    PackedRecord& record = contents.packed[i];
    const Image::Place place = only_changes ? image.place(i) : Image::Place{};
    record.file = place.file;
    record.offset = place.offset;
  }
}

}  // namespace

Result<WrittenArtifact> write_image(const Image& image, ByteSink& sink, const WriteImageOptions& options) {
  ArtifactContents contents = image.contents();
  place_packed(image, options.only_changes, contents);
  const RecordOrder order = order_records(contents);
  // The order in which models were given does not show in a file.
  std::ranges::sort(contents.models, {}, [](const ModelRecord& r) { return std::tie(r.name, r.plan_key); });
  OneAtATime packed([&](size_t i) { return image.packed(order.packed_from[i]); });
  OneAtATime embedded([&](size_t i) { return image.source(order.sources_from[i]); });
  const ArtifactBytes bytes{[&](size_t i) { return packed(i); }, [&](size_t i) { return embedded(i); }};
  return write_artifact(std::move(contents), bytes, sink, {options.debug_map});
}

int64_t image_bytes(const Image& image) {
  int64_t total = 0;
  for (const PackedRecord& record : image.contents().packed)
    total += storage_bytes(record.dtype, count_of(record.dims)).value_or(0);
  for (const SourceRecord& record : image.contents().sources)
    if (record.place == SourceRecord::Place::Embedded)
      total += storage_bytes(record.info.dtype, count_of(record.info.dims)).value_or(0);
  return total;
}

}  // namespace tenon
