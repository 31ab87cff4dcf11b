#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/confined_folders.h"
#include "base/file_identity.h"
#include "wire/onnx_tensor.h"

namespace tenon::wire {

// How file contents come into memory: mapped costs nothing until touched; copied survives a file that changes.
enum class Loading { Map, Copy };

// External data next to a model. A location is relative and must lead to a regular file in the model's folder (see
// ConfinedFolders for links). Each file is opened and mapped once. Thread-safe.
class FolderExternalData final : public ExternalData {
 public:
  static Result<std::shared_ptr<FolderExternalData>> of_model(const std::string& model_path,
                                                              Loading loading = Loading::Map);
  // For a model that comes as bytes: its external data is in this folder.
  static Result<std::shared_ptr<FolderExternalData>> in_folder(const std::string& folder,
                                                               Loading loading = Loading::Map);

  Result<Region> read(Bytes location, int64_t offset, int64_t length) override;
  // Of a file, when it was opened; nothing when it cannot be opened or is too young to have one.
  std::optional<FileIdentity> identity(Bytes location);
  // True when all files that were opened so far are certainly still the same.
  bool are_unchanged();

 private:
  struct OpenFile {
    FileHandle handle;
    std::optional<FileIdentity> identity;
    int64_t size = 0;
    std::shared_ptr<const MappedFile> mapping;  // null when copying
  };
  FolderExternalData(ConfinedFolders folders, Loading loading) : folders_(std::move(folders)), loading_(loading) {}
  Result<std::shared_ptr<const OpenFile>> open(Bytes location);

  ConfinedFolders folders_;
  Loading loading_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const OpenFile>, std::less<>> files_;
};

}  // namespace tenon::wire
