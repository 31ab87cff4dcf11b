#include "artifact/publication.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "artifact/leftovers.h"
#include "base/file_kind.h"
#include "plan/context_model.h"
#include "plan/weights_file.h"
#include "swap/weight_program.h"
#include "wire/onnx_write.h"

namespace tenon {

namespace {

// Whether the new weights may have their name. A file that is not what its name says is nobody's.
Status check_weights_name(const std::string& path, const Hash128& content_id, bool overwrite) {
  if (!exists(path)) return {};
  TN_RETURN_IF_ERROR(check_replaceable(path));
  const auto other = WeightsFile::open(path);
  if (other.ok() && (*other)->content_id() == content_id) return {};
  // Eight digits may be those of another file too, which somebody may need.
  if (other.ok() && (*other)->content_id().hex().substr(0, 8) == content_id.hex().substr(0, 8))
    return invalid_argument("'{}' exists and is a different weights file; choose another name for the new one", path);
  if (overwrite) return {};
  return invalid_argument(
      "'{}' exists and is not the weights file of this group; set the option 'overwrite' to replace it, or choose "
      "another name",
      path);
}

// What must go when nobody needs it, should the publication not come to its end.
Status write_note(const std::string& staging, const std::vector<std::string>& weights) {
  if (weights.empty()) return {};
  std::string text;
  for (const std::string& name : weights) text += name + "\n";
  const std::string_view pieces[] = {text};
  return write_file_atomically(staging + "/" + std::string(kNoteName), pieces);
}

// The weights first, then each context file.
Status move_files(const std::string& from, const std::string& to, const std::string& weights,
                  const std::vector<std::string>& contexts) {
  if (!weights.empty()) {
    TN_RETURN_IF_ERROR(rename_file(from + "/" + weights, to + "/" + weights));
    // Before any context file names it.
    TN_RETURN_IF_ERROR(sync_folder(to));
  }
  for (const std::string& name : contexts) TN_RETURN_IF_ERROR(rename_file(from + "/" + name, to + "/" + name));
  return sync_folder(to);
}

}  // namespace

Result<std::unique_ptr<Publication>> Publication::stage(const Image& image, const std::string& folder,
                                                        PublishOptions options) {
  std::unique_ptr<Publication> made(new Publication(plain_folder(folder), std::move(options)));
  TN_RETURN_IF_ERROR(made->check_names());
  TN_RETURN_IF_ERROR(made->check_free());
  TN_RETURN_IF_ERROR(made->make_staging());
  TN_RETURN_IF_ERROR(made->write(image));
  return made;
}

Publication::~Publication() {
  if (staging_name_) remove_flat_folder(staging_parent_.get(), staging_name_->name(), kLockName);
}

// What is left of it is nobody's: like the leftovers of others it goes, or stays while it tells something.
void Publication::forget_staging() {
  lock_.reset();
  staging_name_.reset();
}

std::string Publication::path(size_t model) const { return staging_ + "/" + options_.names[model]; }

Status Publication::check_names() const {
  std::set<std::string> known;
  for (const std::string& name : options_.names)
    if (!known.insert(name).second) return invalid_argument("two models would be saved as '{}'", name);
  return {};
}

// A file that holds only what changed is of no use without the ones that hold the rest.
Status Publication::check_bases() const {
  std::set<Hash128> needed;
  for (const PackedRecord& record : written_.contents.packed)
    if (record.file != Hash128()) needed.insert(record.file);
  for (const Hash128& id : needed)
    if (!is_folder(folder_) || !has_weights_file(folder_, id))
      return error(Code::NotFound,
                   "the weights file with the unchanged weights ({}) is not in '{}'; save all models in its folder",
                   id.hex(), folder_);
  return {};
}

Status Publication::check_free() const {
  if (exists(folder_) && !is_folder(folder_)) return invalid_argument("'{}' is a file, not a folder", folder_);
  for (const std::string& name : options_.names) TN_RETURN_IF_ERROR(check_replaceable(folder_ + "/" + name));
  if (options_.overwrite) return {};
  for (const std::string& name : options_.names)
    if (exists(folder_ + "/" + name))
      return invalid_argument(
          "'{}/{}' already exists; set the option 'overwrite' to replace it, or choose another name", folder_, name);
  return {};
}

// Inside the folder when there is one, so that renames stay on one file system; else beside the folder to be.
Status Publication::make_staging() {
  is_new_folder_ = !is_folder(folder_);
  const std::string parent = is_new_folder_ ? folder_of(folder_) : folder_;
  TN_RETURN_IF_ERROR(above_.make(parent));
  // Nobody may take a folder for stale before it has its lock.
  TN_ASSIGN_OR_RETURN(const FileLock making, FileLock::wait(parent));
  remove_stale_staging(parent);
  TN_ASSIGN_OR_RETURN(staging_parent_, open_folder(parent));
  auto made = TemporaryName::make_folder(staging_parent_, kStagingPrefix);
  if (!made.ok()) return std::move(made).status().in(parent);
  staging_name_ = std::move(*made);
  staging_ = parent + "/" + staging_name_->name();
  TN_ASSIGN_OR_RETURN(staging_folder_, open_folder_in(staging_parent_.get(), staging_name_->name()));
  TN_ASSIGN_OR_RETURN(lock_, FileLock::make(staging_folder_, std::string(kLockName), kMark));
  return {};
}

Status Publication::write(const Image& image) {
  std::string payload;
  TN_RETURN_IF_ERROR(write_weights(image, payload));
  for (size_t model = 0; model < options_.names.size(); ++model)
    TN_RETURN_IF_ERROR(write_context(image, model, payload).in(options_.names[model]));
  return sync_folder(staging_);
}

Status Publication::write_weights(const Image& image, std::string& payload) {
  if (options_.embed) {
    if (const int64_t bytes = image_bytes(image); bytes >= static_cast<int64_t>(wire::kMaxMessageBytes))
      return unsupported(
          "{} bytes of weights cannot be embedded because an ONNX file is limited to 2 GiB; keep them in a separate "
          "weights file",
          bytes);
    StringSink sink;
    TN_ASSIGN_OR_RETURN(written_, write_image(image, sink, options_.write));
    payload = sink.take();
    return {};
  }
  const std::string unnamed = staging_ + "/weights.part";
  TN_ASSIGN_OR_RETURN(const bool is_copied, copy_weights_file(image, unnamed));
  if (!is_copied) TN_RETURN_IF_ERROR(write_weights_file(image, unnamed));
  weights_name_ = fmt::format("{}-{}.bin", options_.weights_stem, written_.content_id.hex().substr(0, 8));
  return rename_file(unnamed, staging_ + "/" + weights_name_);
}

Status Publication::write_weights_file(const Image& image, const std::string& path) {
  TN_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  TN_ASSIGN_OR_RETURN(written_, write_image(image, sink, options_.write));
  return sink.finish();
}

// False when there is nothing to copy, or nothing any more.
Result<bool> Publication::copy_weights_file(const Image& image, const std::string& path) {
  const std::string same = image.weights_file();
  if (same.empty() || options_.write.only_changes || !options_.write.debug_map) return false;
  const auto weights = WeightsFile::open(same, {true, false, family_facts});
  if (!weights.ok()) return false;
  const auto copied = copy_file_atomically(same, path);
  if (!copied.ok() && copied.status().code() == Code::NotFound) return false;
  if (!copied.ok()) return copied.status();
  std::error_code problem;
  written_ = {(*weights)->content_id(), static_cast<int64_t>(std::filesystem::file_size(path, problem)),
              (*weights)->contents()};
  return true;
}

Status Publication::write_context(const Image& image, size_t model, std::string_view payload) {
  const ModelRecord& record = image.contents().models[model];
  ContextNode node;
  node.embedded = options_.embed;
  node.file_name = weights_name_;
  node.payload = payload;
  node.plan_key = record.plan_key;
  node.model_name = record.name;
  node.content_id = written_.content_id;
  node.version = TENON_VERSION;
  node.architecture = kAnyLittleEndian;
  const std::string source_file = image.source_file(model);
  node.source_model = source_file;
  wire::MessageBuilder builder;
  TN_ASSIGN_OR_RETURN(const wire::Model context,
                      make_context_model(image.face(model), record.program->plan, node, builder));
  TN_ASSIGN_OR_RETURN(auto encoded, wire::encode_model(context));
  return write_file_atomically(path(model), encoded.pieces());
}

Status Publication::publish() {
  if (is_new_folder_) {
    TN_ASSIGN_OR_RETURN(const FileLock naming, FileLock::wait(folder_of(folder_)));
    bool done = false;
    TN_RETURN_IF_ERROR(publish_as_folder(done));
    if (done) return {};
  }
  TN_ASSIGN_OR_RETURN(const FileLock folder_lock, FileLock::wait(folder_));
  return publish_into_folder();
}

// The mark goes last: a staging folder without it would stay for ever, a folder with it is tidied up.
Status Publication::publish_as_folder(bool& done) {
  if (is_folder(folder_)) return {};
  TN_RETURN_IF_ERROR(check_bases());
  const auto hold = hold_temporaries();
  // Fails when somebody else made the folder meanwhile and put something there.
  if (::renameat(staging_parent_.get(), staging_name_->name().c_str(), AT_FDCWD, folder_.c_str()) != 0)
    return errno == ENOTEMPTY || errno == EEXIST ? Status() : io_error("cannot write", folder_, errno);
  done = true;
  staging_name_.reset();
  ::unlinkat(staging_folder_.get(), std::string(kLockName).c_str(), 0);
  return sync_folder(folder_of(folder_));
}

Status Publication::publish_into_folder() {
  TN_RETURN_IF_ERROR(check_free());
  // Under the lock: nobody removes them from now on.
  TN_RETURN_IF_ERROR(check_bases());
  std::vector<std::string> leftovers = weights_used_by(folder_, options_.names);
  if (!weights_name_.empty()) {
    const std::string path = folder_ + "/" + weights_name_;
    TN_RETURN_IF_ERROR(check_weights_name(path, written_.content_id, options_.overwrite));
    if (!exists(path)) leftovers.push_back(weights_name_);
  }
  const auto hold = hold_temporaries();
  // Beside a folder that somebody else made meanwhile nobody would look for it.
  if (!is_new_folder_) TN_RETURN_IF_ERROR(write_note(staging_, leftovers));
  const Status status = move_files(staging_, folder_, weights_name_, options_.names);
  if (is_new_folder_) {
    remove_unnamed_weights(folder_, "", leftovers);
    return status;
  }
  forget_staging();
  remove_stale_staging(folder_);
  return status;
}

}  // namespace tenon
