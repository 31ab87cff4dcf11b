#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/write_image.h"
#include "base/folder.h"
#include "base/temporaries.h"

namespace tenon {

struct PublishOptions {
  std::vector<std::string> names;  // of the context files, one per model of the image
  std::string weights_stem;        // of the weights file: "<stem>-<hash8>.bin"
  bool embed = false;              // the weights inside the one context file
  bool overwrite = false;          // existing context files of these names may be replaced
  WriteImageOptions write;
};

// The files of an image, written and durable but not yet under their names. Goes away without a trace unless it is
// published. Whatever happens in between, a folder holds old context files or new ones, and the weights they name.
class Publication {
 public:
  static Result<std::unique_ptr<Publication>> stage(const Image& image, const std::string& folder,
                                                    PublishOptions options);
  ~Publication();

  // Where the context file of a model is now.
  std::string path(size_t model) const;
  // "" when it is embedded.
  const std::string& weights_name() const { return weights_name_; }
  const WrittenArtifact& written() const { return written_; }
  Status publish();

 private:
  Publication(std::string folder, PublishOptions options) : folder_(std::move(folder)), options_(std::move(options)) {}
  Status make_staging();
  Status write(const Image& image);
  Status write_weights(const Image& image, std::string& payload);
  Status write_weights_file(const Image& image, const std::string& path);
  Result<bool> copy_weights_file(const Image& image, const std::string& path);
  Status write_context(const Image& image, size_t model, std::string_view payload);
  Status check_names() const;
  Status check_bases() const;
  Status check_free() const;
  Status publish_as_folder(bool& done);
  Status publish_into_folder();
  void forget_staging();

  std::string folder_;
  PublishOptions options_;
  std::string staging_;         // the folder with the new files
  bool is_new_folder_ = false;  // staging_ becomes the folder itself
  MadeFolders above_;           // those that the staging folder is in
  FileHandle staging_parent_, staging_folder_;
  std::unique_ptr<TemporaryName> staging_name_;
  std::optional<FileLock> lock_;
  std::string weights_name_;
  WrittenArtifact written_;
};

}  // namespace tenon
