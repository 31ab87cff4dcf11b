#include "runtime/publication.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <set>

#include "plan/artifact_read.h"
#include "plan/context_model.h"
#include "runtime/leftovers.h"
#include "wire/onnx_write.h"

namespace tenon {

namespace {

std::string staging_name() {
  static std::atomic<int> count{0};
  return fmt::format("{}{}-{}", kStagingPrefix, ::getpid(), count++);
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
  if (!staging_.empty()) remove_flat_folder(staging_);
}

std::string Publication::path(size_t model) const { return staging_ + "/" + options_.names[model]; }

Status Publication::check_names() const {
  std::set<std::string> known;
  for (const std::string& name : options_.names)
    if (!known.insert(name).second) return invalid_argument("two models are to be saved as '{}'", name);
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
                   "the weights file that the unchanged weights are in ({}) is not in '{}'; save them all there",
                   id.hex(), folder_);
  return {};
}

Status Publication::check_free() const {
  if (exists(folder_) && !is_folder(folder_))
    return invalid_argument("'{}' is a file; a folder is needed there", folder_);
  if (options_.overwrite) return {};
  for (const std::string& name : options_.names)
    if (exists(folder_ + "/" + name))
      return invalid_argument("'{}/{}' exists already; ask for it to be overwritten, or choose another name", folder_,
                              name);
  return {};
}

// Inside the folder when there is one, so that renames stay on one file system; else beside the folder to be.
Status Publication::make_staging() {
  is_new_folder_ = !is_folder(folder_);
  const std::string parent = is_new_folder_ ? folder_of(folder_) : folder_;
  TN_RETURN_IF_ERROR(make_folders(parent));
  // Nobody may take a folder for stale before it has its lock.
  TN_ASSIGN_OR_RETURN(const FileLock making, FileLock::wait(parent));
  remove_stale_staging(parent);
  std::string name = parent + "/" + staging_name();
  // Another container may have a process of the same number.
  while (::mkdir(name.c_str(), 0777) != 0) {
    if (errno != EEXIST) return io_error("cannot make the folder", name, errno);
    name = parent + "/" + staging_name();
  }
  staging_ = name;
  TN_ASSIGN_OR_RETURN(FileLock lock, FileLock::make(staging_ + "/" + std::string(kLockName)));
  lock_ = std::make_unique<FileLock>(std::move(lock));
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
      return unsupported("{} bytes of weights cannot be embedded: an ONNX file ends at 2 GiB; leave them in their own",
                         bytes);
    StringSink sink;
    TN_ASSIGN_OR_RETURN(written_, write_image(image, sink, options_.write));
    payload = sink.take();
    return {};
  }
  const std::string unnamed = staging_ + "/weights.part";
  TN_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(unnamed));
  TN_ASSIGN_OR_RETURN(written_, write_image(image, sink, options_.write));
  TN_RETURN_IF_ERROR(sink.finish());
  weights_name_ = fmt::format("{}-{}.bin", options_.weights_stem, written_.content_id.hex().substr(0, 8));
  return rename_file(unnamed, staging_ + "/" + weights_name_);
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
  std::optional<FileLock> naming;
  if (is_new_folder_) {
    // Without its lock file the staging folder would pass for a stale one.
    TN_ASSIGN_OR_RETURN(naming, FileLock::wait(folder_of(folder_)));
  }
  if (is_new_folder_ && !is_folder(folder_)) {
    TN_RETURN_IF_ERROR(check_bases());
    TN_RETURN_IF_ERROR(remove_file(staging_ + "/" + std::string(kLockName)));
    // Fails when somebody else made the folder meanwhile and put something there.
    if (::rename(staging_.c_str(), folder_.c_str()) == 0) {
      staging_.clear();
      return sync_folder(folder_of(folder_));
    }
    if (errno != ENOTEMPTY && errno != EEXIST) return io_error("cannot write", folder_, errno);
  }
  TN_ASSIGN_OR_RETURN(const FileLock folder_lock, FileLock::wait(folder_));
  return publish_into_folder();
}

Status Publication::publish_into_folder() {
  TN_RETURN_IF_ERROR(check_free());
  // Under the lock: nobody removes them from now on.
  TN_RETURN_IF_ERROR(check_bases());
  std::vector<std::string> replaced;
  for (const std::string& name : options_.names)
    if (auto weights = weights_named_by(folder_ + "/" + name); !weights.empty()) replaced.push_back(std::move(weights));
  if (!weights_name_.empty()) {
    // Eight digits may be those of another file too, which somebody may need.
    const auto other = Artifact::open(folder_ + "/" + weights_name_);
    if (other.ok() && (*other)->content_id() != written_.content_id)
      return invalid_argument("'{}/{}' exists and is another weights file; choose another name for the new one",
                              folder_, weights_name_);
    TN_RETURN_IF_ERROR(rename_file(staging_ + "/" + weights_name_, folder_ + "/" + weights_name_));
    // Before any context file names it.
    TN_RETURN_IF_ERROR(sync_folder(folder_));
  }
  for (size_t model = 0; model < options_.names.size(); ++model)
    TN_RETURN_IF_ERROR(rename_file(path(model), folder_ + "/" + options_.names[model]));
  TN_RETURN_IF_ERROR(sync_folder(folder_));
  remove_unnamed_weights(folder_, options_.weights_stem, replaced);
  return {};
}

}  // namespace tenon
