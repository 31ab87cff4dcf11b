#include "plan/artifact_write.h"

#include <unistd.h>

#include <map>

#include "plan/artifact_records.h"
#include "plan/keys.h"

namespace tenon {

namespace {

// Appends sections; remembers where they are and what their hashes are.
class SectionWriter {
 public:
  explicit SectionWriter(ByteSink& sink) : sink_(sink) {}

  Status begin(Section section) {
    section_ = section;
    TN_RETURN_IF_ERROR(pad(section_alignment(section)));
    hash_ = StreamingHash();
    frame_.at(section).offset = position_;
    return {};
  }
  Status append(std::string_view bytes) {
    hash_.add(bytes);
    return write(bytes);
  }
  // Zeros up to the next place for an entry; they are part of the section.
  Status align_entry() {
    static const std::string kZeros(kEntryAlignment, '\0');
    return append(
        std::string_view(kZeros).substr(0, static_cast<size_t>(aligned(position_, kEntryAlignment) - position_)));
  }
  void end() {
    SectionPlace& place = frame_.at(section_);
    place.bytes = position_ - place.offset;
    place.hash = hash_.value();
  }
  Status skip_frame() { return write(std::string(static_cast<size_t>(kTableEnd), '\0')); }

  int64_t position() const { return position_; }
  ArtifactFrame& frame() { return frame_; }

 private:
  Status pad(int64_t alignment) {
    return write(std::string(static_cast<size_t>(aligned(position_, alignment) - position_), '\0'));
  }
  Status write(std::string_view bytes) {
    TN_RETURN_IF_ERROR(sink_.append(bytes));
    position_ += static_cast<int64_t>(bytes.size());
    return {};
  }

  ByteSink& sink_;
  ArtifactFrame frame_;
  int64_t position_ = 0;
  Section section_ = Section::Packed;
  StreamingHash hash_;
};

Status check_content(Hash128& content, const Hash128& actual) {
  if (content == Hash128()) content = actual;
  if (content == actual) return {};
  return error(Code::Internal, "the hash of its bytes is {}, not {}", actual.hex(), content.hex());
}

class ArtifactWriter {
 public:
  ArtifactWriter(ArtifactContents contents, const ArtifactBytes& bytes, ByteSink& sink)
      : contents_(std::move(contents)), bytes_(bytes), sink_(sink), out_(sink) {}

  Result<WrittenArtifact> write(const ArtifactWriteOptions& options) {
    for (ModelRecord& model : contents_.models) model.plan_key = plan_key(*model.program);
    TN_RETURN_IF_ERROR(check_names());
    const auto users = users_of(contents_);
    for (size_t i = 0; i < users.size(); ++i) contents_.packed[i].users = users[i];
    TN_RETURN_IF_ERROR(out_.skip_frame());
    TN_RETURN_IF_ERROR(write_packed());
    TN_RETURN_IF_ERROR(write_embedded());
    TN_RETURN_IF_ERROR(check_contents(contents_, out_.frame()));
    const auto records = records_to_bytes(contents_, options.debug_map);
    for (size_t i = 0; i < kSectionCount; ++i) {
      if (is_large(static_cast<Section>(i))) continue;
      TN_RETURN_IF_ERROR(out_.begin(static_cast<Section>(i)));
      TN_RETURN_IF_ERROR(out_.append(records[i]));
      out_.end();
    }
    TN_RETURN_IF_ERROR(sink_.overwrite_start(frame_to_bytes(out_.frame())));
    return WrittenArtifact{out_.frame().content_id, out_.position(), std::move(contents_)};
  }

 private:
  // A session finds its model by plan key and name.
  Status check_names() const {
    std::map<std::pair<Hash128, std::string>, const ModelRecord*> known;
    for (const ModelRecord& model : contents_.models) {
      const auto [it, is_new] = known.emplace(std::pair(model.plan_key, model.name), &model);
      if (!is_new && (it->second->slots != model.slots || it->second->sources != model.sources))
        return invalid_argument("two models named '{}' have the same plan but different weights", model.name);
    }
    return {};
  }

  Status write_packed() {
    TN_RETURN_IF_ERROR(out_.begin(Section::Packed));
    for (size_t i = 0; i < contents_.packed.size(); ++i) {
      PackedRecord& record = contents_.packed[i];
      if (record.file != Hash128()) continue;
      TN_RETURN_IF_ERROR(write_entry(bytes_.packed, i, record.content, record.offset, record.bytes)
                             .in(fmt::format("packed tensor {}", i)));
    }
    out_.end();
    return {};
  }

  Status write_embedded() {
    places_.clear();
    TN_RETURN_IF_ERROR(out_.begin(Section::Embedded));
    for (size_t i = 0; i < contents_.sources.size(); ++i) {
      SourceRecord& record = contents_.sources[i];
      if (record.place != SourceRecord::Place::Embedded) continue;
      TN_RETURN_IF_ERROR(write_entry(bytes_.embedded, i, record.content, record.offset, record.bytes)
                             .in("source '" + record.info.name + "'"));
    }
    out_.end();
    return {};
  }

  Status write_entry(const BytesOf& bytes_of, size_t index, Hash128& content, int64_t& offset, int64_t& size) {
    TN_ASSIGN_OR_RETURN(const std::string_view bytes, bytes_of(index));
    TN_RETURN_IF_ERROR(check_content(content, hash_bytes(bytes)));
    size = static_cast<int64_t>(bytes.size());
    const auto known = places_.find({content, size});
    if (known != places_.end()) {
      offset = known->second;
      return {};
    }
    TN_RETURN_IF_ERROR(out_.align_entry());
    offset = out_.position();
    places_[{content, size}] = offset;
    return out_.append(bytes);
  }

  ArtifactContents contents_;
  const ArtifactBytes& bytes_;
  ByteSink& sink_;
  SectionWriter out_;
  std::map<std::pair<Hash128, int64_t>, int64_t> places_;  // of the section being written
};

}  // namespace

Result<WrittenArtifact> write_artifact(ArtifactContents contents, const ArtifactBytes& bytes, ByteSink& sink,
                                       const ArtifactWriteOptions& options) {
  return ArtifactWriter(std::move(contents), bytes, sink).write(options);
}

Result<WrittenArtifact> write_artifact_file(ArtifactContents contents, const ArtifactBytes& bytes,
                                            const std::string& path, const ArtifactWriteOptions& options) {
  TN_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  auto written = write_artifact(std::move(contents), bytes, sink, options);
  Status status = written.ok() ? sink.finish() : written.status();
  if (status.ok()) return written;
  ::unlink(path.c_str());
  return status;
}

}  // namespace tenon
