#pragma once

#include <optional>

#include "artifact/bake.h"
#include "artifact/file_image.h"
#include "artifact/image.h"
#include "artifact/publication.h"
#include "runtime/api/handles.h"

struct tn_source {
  std::shared_ptr<const tenon::WeightSource> source;  // null for tensors in memory and for folders
  std::map<std::string, tenon::Tensor> tensors;       // in memory
  std::string folder;
  std::vector<std::string> names;  // texts that accessors return
};

struct tn_weights {
  tenon::Session::KeyedWeights weights;
};

struct tn_artifact {
  std::shared_ptr<const tenon::Image> image;
};

struct tn_publication {
  std::unique_ptr<tenon::Publication> publication;
  std::vector<std::string> paths;  // texts that accessors return
};

namespace tenon::api {

// The tensors of a source handle; `layout` says where they are in the files of a folder.
Result<std::shared_ptr<const WeightSource>> weight_source(const tn_source& source,
                                                          const std::shared_ptr<const SourceLayout>& layout);
// How files of compiled models are opened.
void read_open_options(OptionReader& reader, OpenOptions& open);
// `of_session`: a compile may follow, which a change of files never does.
Result<SwapOptions> read_swap_options(const tn_options* options, bool of_session);
// Weights that were given with the options of a session.
Status set_given_weights(const tn_options* options, Session& session);
std::string reports_json(const std::vector<SwapReport>& reports, bool as_list);

}  // namespace tenon::api
