#pragma once

#include <memory>
#include <string>
#include <vector>

#include "onnx/export.h"
#include "wire/onnx_write.h"

namespace tenon {

struct PlaceOptions {
  std::string data_file;       // beside the model's file, for weights that do not stay in that
  bool external_stays = true;  // weights in data files are left there
  // Of the model's file. Where it would get larger, weights over kMostInlineBytes move to the data file.
  uint64_t most_file_bytes = wire::kMaxMessageBytes;
};

inline constexpr int64_t kMostInlineBytes = 1024;

// Where the weights of a model will be when it is written.
struct PlacedWeights {
  std::vector<std::string_view> data;  // the pieces of the data file, where they are now; none: it needs no such file
  uint64_t data_bytes = 0;
  std::shared_ptr<wire::ExternalData> external;  // reads them as if they were there already
};

// Gives every weight of a model that will be written its place: in the model's file or in the data file beside it.
// Weights that are the same region of a data file are stored once, for which they need one. Copies no elements.
// bytes, external: what the messages of the model refer to.
Result<PlacedWeights> place_weights(ExportedModel& exported, const std::shared_ptr<const void>& bytes,
                                    std::shared_ptr<wire::ExternalData> external, const PlaceOptions& options);

}  // namespace tenon
