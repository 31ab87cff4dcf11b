#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "build/json.h"

namespace tenon::build {

// What a file of a model was when it was hashed.
struct FileRecord {
  std::string path;
  int64_t bytes = 0;
  std::string hash;         // of what the model has in it, 32 digits
  std::string parts;        // of where that is; "" in the model's own file, all of which counts
  Json identity;            // see identity_of_file
  int64_t bytes_read = 0;   // now, to hash it; what another model of this build has read counts there
  bool was_known = false;   // the hash comes from the last manifest
  bool is_missing = false;  // then there is no hash
};

// {device, inode, bytes, modified_ns, changed_ns} of a regular file, links followed; null when there is none.
Json identity_of_file(const std::string& path);

// What the last manifest says of files. It counts while a file is certainly the same: device, inode, size and times are
// equal, and it was written more than two seconds before that manifest, since file systems count time in steps of up to
// two seconds.
class KnownFiles {
 public:
  // `manifest`: as it was read, or null. `rehash`: every file is read.
  KnownFiles(const Json& manifest, int64_t manifest_modified_ns, bool rehash);

  // The record of a file of a model; an empty one when it may be another file now.
  FileRecord recall(const std::string& model, const std::string& path) const;
  // Of all files of a model; none when one of them may be another file now.
  std::vector<FileRecord> recall_all(const std::string& model) const;

 private:
  FileRecord recall(const Json& known) const;

  std::map<std::string, Json> files_;  // by model, as lists
  int64_t modified_ns_;
};

}  // namespace tenon::build
