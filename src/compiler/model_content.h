#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_identity.h"
#include "base/hash.h"
#include "onnx/import.h"

namespace tenon {

// Hashes of a model's bytes, each computed once, whoever asks and however many models refer to them: regions of files
// are known by the identity of the file in the whole process. Thread-safe.
class ModelContent {
 public:
  // `file`: of the model's file, where it is certain that it was this one that was read.
  explicit ModelContent(std::shared_ptr<const ImportedModel> model, std::optional<FileIdentity> file = {});

  // Bytes of a file that are elements of the model.
  struct Region {
    std::string file;  // beside the model; empty: the model's own
    int64_t offset = 0, bytes = 0;
    friend auto operator<=>(const Region&, const Region&) = default;
  };
  // All regions in the order of the files, each once: large weights inside, and all that lies in other files.
  std::vector<Region> regions() const;

  Result<Hash128> of(const Region& region) const;
  // Of the elements, as content_hash gives it.
  Result<Hash128> of(const Constant& constant) const;
  // Of the model file: of everything but large weights inside it, and of their hashes.
  Hash128 of_file() const;
  // True when the model's file and those of its weights that were read are certainly still the same.
  bool is_unchanged() const;
  const std::optional<FileIdentity>& identity() const { return identity_; }

  // The bytes of regions that this process has read to hash them.
  static uint64_t bytes_read();

 private:
  std::optional<Region> region_of(const Constant& constant) const;
  template <class Compute>
  Result<Hash128> once(const Region& region, Compute&& compute) const;

  std::shared_ptr<const ImportedModel> model_;
  std::optional<FileIdentity> identity_;
  std::map<std::string, Region, std::less<>> inside_;  // large weights in the model file, by name
  struct Known;
  std::shared_ptr<Known> known_;  // of regions in files without identity
};

}  // namespace tenon
