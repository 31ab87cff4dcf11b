#pragma once

#include <map>
#include <string>

#include "build/json.h"

namespace tenon::build {

// What a file was when its bytes were hashed.
struct FileRecord {
  std::string path;
  int64_t bytes = 0;
  std::string hash;         // of the bytes, 32 digits
  Json identity;            // see identity_of_file
  bool was_known = false;   // the hash comes from the last manifest
  bool is_missing = false;  // then there is no hash
  bool is_repeat = false;   // another model of this build has read it
};

// {device, inode, bytes, modified_ns, changed_ns} of a regular file, links followed; null when there is none.
Json identity_of_file(const std::string& path);

// Content hashes of files. What the last manifest says of a file counts while the file is certainly the same: device,
// inode, size and times are equal, and it was written more than two seconds before that manifest, since file systems
// count time in steps of up to two seconds.
class KnownFiles {
 public:
  // `manifest`: as it was read, or null. `rehash`: every file is read.
  KnownFiles(const Json& manifest, int64_t manifest_modified_ns, bool rehash);

  // The record of a file that the last manifest knows, and that is the same; else an empty one.
  FileRecord recall(const std::string& path) const;
  // Each file once.
  FileRecord read(const std::string& path);

 private:
  Json files_ = Json::object();  // by path
  int64_t modified_ns_;
  std::map<std::string, FileRecord> read_;
};

}  // namespace tenon::build
