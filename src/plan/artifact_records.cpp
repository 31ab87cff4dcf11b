#include "plan/artifact_records.h"

#include <map>

#include "plan/bytes.h"
#include "plan/keys.h"
#include "plan/type_bytes.h"

namespace tenon {

namespace {

constexpr uint32_t kNoDebugMap = 0xffffffff;

// Blocks by number, equal ones once.
class BlockTable {
 public:
  uint32_t id(std::string bytes) {
    const auto [it, is_new] = ids_.emplace(std::move(bytes), static_cast<uint32_t>(order_.size()));
    if (is_new) order_.push_back(&it->first);
    return it->second;
  }
  std::string to_bytes() const {
    ByteWriter out;
    out.put_count(order_.size());
    uint64_t end = 0;
    for (const std::string* block : order_) out.put(end += block->size());
    for (const std::string* block : order_) out.put_raw(*block);
    return out.take();
  }
  static Result<std::vector<std::string_view>> read(std::string_view bytes) {
    ByteReader in(bytes);
    std::vector<std::string_view> blocks;
    uint64_t begin = 0;
    const auto ends = in.get_list<uint64_t>();
    for (const uint64_t end : ends) {
      if (end < begin) return invalid_model("blocks are not in order");
      blocks.push_back(in.get_raw(end - begin));
      begin = end;
    }
    TN_RETURN_IF_ERROR(in.finish());
    return blocks;
  }

 private:
  std::map<std::string, uint32_t> ids_;
  std::vector<const std::string*> order_;  // nodes of a map stay where they are
};

class RecordsWriter {
 public:
  std::array<std::string, kSectionCount> write(const ArtifactContents& contents, bool with_debug_map) {
    std::array<std::string, kSectionCount> sections;
    const auto at = [&](Section section) -> std::string& { return sections[static_cast<size_t>(section)]; };
    at(Section::Models) = models(contents, with_debug_map);
    at(Section::Sources) = sources(contents.sources);
    at(Section::Index) = index(contents.packed);
    at(Section::Programs) = programs_.to_bytes();
    if (with_debug_map) at(Section::DebugMap) = debug_maps_.to_bytes();
    ByteWriter strings;
    strings_.write(strings);
    at(Section::Strings) = strings.take();
    return sections;
  }

 private:
  std::string models(const ArtifactContents& contents, bool with_debug_map) {
    ByteWriter out;
    out.put(strings_.id(contents.made_by));
    out.put_count(contents.models.size());
    for (const ModelRecord& model : contents.models) {
      out.put(strings_.id(model.name));
      out.put(programs_.id(program_to_bytes(*model.program)));
      out.put(with_debug_map ? debug_maps_.id(debug_map_to_bytes(*model.program)) : kNoDebugMap);
      out.put_hash(model.plan_key);
      out.put_hash(model.source_content);
      out.put_hash(model.made_from);
      out.put_list(model.slots);
      out.put_list(model.sources);
    }
    return out.take();
  }

  std::string sources(const std::vector<SourceRecord>& records) {
    ByteWriter out;
    out.put_count(records.size());
    for (const SourceRecord& record : records) {
      out.put(strings_.id(record.info.name));
      out.put(strings_.id(dtype_name(record.info.dtype)));
      out.put_list(record.info.dims);
      out.put_hash(record.content);
      out.put(strings_.id(record.file));
      out.put(record.file_offset);
      out.put(record.file_bytes);
      out.put(static_cast<uint8_t>(record.file_has_names));
      out.put(static_cast<uint8_t>(record.place));
      out.put(record.offset);
      out.put(record.bytes);
      out.put(record.packed);
    }
    return out.take();
  }

  std::string index(const std::vector<PackedRecord>& records) {
    ByteWriter out;
    out.put_count(records.size());
    for (const PackedRecord& record : records) {
      out.put_hash(record.key);
      out.put(strings_.id(dtype_name(record.dtype)));
      out.put_list(record.dims);
      out.put(strings_.id(record.layout));
      out.put_hash(record.content);
      out.put_hash(record.file);
      out.put(record.offset);
      out.put(record.bytes);
      out.put_list(record.users);
    }
    return out.take();
  }

  StringTableWriter strings_;
  BlockTable programs_, debug_maps_;
};

class RecordsReader {
 public:
  RecordsReader(std::string_view file, const ArtifactFrame& frame, const FindFamilyFacts& family_facts)
      : file_(file), frame_(frame), family_facts_(family_facts) {}

  Result<ArtifactContents> read() {
    ByteReader strings(bytes_of(Section::Strings));
    TN_ASSIGN_OR_RETURN(strings_, StringTable::read(strings));
    TN_RETURN_IF_ERROR(strings.finish());
    ArtifactContents contents;
    TN_RETURN_IF_ERROR(read_models(contents).in("models"));
    TN_RETURN_IF_ERROR(read_sources(contents.sources).in("sources"));
    TN_RETURN_IF_ERROR(read_index(contents.packed).in("weight index"));
    return contents;
  }

 private:
  static constexpr size_t kModelBytes = 68, kSourceBytes = 70, kPackedBytes = 80;

  std::string_view bytes_of(Section section) const {
    const SectionPlace& place = frame_.at(section);
    return file_.substr(static_cast<size_t>(place.offset), static_cast<size_t>(place.bytes));
  }
  Status read_text(ByteReader& in, std::string& text) {
    TN_ASSIGN_OR_RETURN(text, strings_.at(in.get<uint32_t>()));
    return {};
  }

  Status read_models(ArtifactContents& contents) {
    TN_ASSIGN_OR_RETURN(programs_, BlockTable::read(bytes_of(Section::Programs)));
    if (!bytes_of(Section::DebugMap).empty()) {
      TN_ASSIGN_OR_RETURN(debug_maps_, BlockTable::read(bytes_of(Section::DebugMap)));
    }
    ByteReader in(bytes_of(Section::Models));
    TN_RETURN_IF_ERROR(read_text(in, contents.made_by));
    contents.models.resize(in.get_count(kModelBytes));
    for (ModelRecord& model : contents.models) {
      TN_RETURN_IF_ERROR(read_text(in, model.name));
      const auto program = in.get<uint32_t>(), debug_map = in.get<uint32_t>();
      model.plan_key = in.get_hash();
      model.source_content = in.get_hash();
      model.made_from = in.get_hash();
      model.slots = in.get_list<int32_t>();
      model.sources = in.get_list<int32_t>();
      TN_RETURN_IF_ERROR(in.status());
      auto read = read_program(program, debug_map, model.plan_key);
      if (!read.ok()) return std::move(read).status().in("model '" + model.name + "'");
      model.program = std::move(read).value();
    }
    return in.finish();
  }

  // Models of one program and one debug map share what is read.
  Result<std::shared_ptr<const Program>> read_program(uint32_t program, uint32_t debug_map, const Hash128& key) {
    if (program >= programs_.size()) return invalid_model("program {} does not exist", program);
    if (debug_map != kNoDebugMap && debug_map >= debug_maps_.size())
      return invalid_model("debug map {} does not exist", debug_map);
    if (plan_key(programs_[program]) != key)
      return invalid_model("the plan key of the program does not match that of its model");
    std::shared_ptr<const Program>& known = read_programs_[{program, debug_map}];
    if (!known) {
      const std::string_view names = debug_map == kNoDebugMap ? std::string_view() : debug_maps_[debug_map];
      TN_ASSIGN_OR_RETURN(known, program_from_bytes(programs_[program], names, family_facts_));
    }
    return known;
  }

  Status read_sources(std::vector<SourceRecord>& records) {
    ByteReader in(bytes_of(Section::Sources));
    TypeReader types(strings_);
    records.resize(in.get_count(kSourceBytes));
    for (SourceRecord& record : records) {
      TN_RETURN_IF_ERROR(read_text(in, record.info.name));
      TN_ASSIGN_OR_RETURN(record.info.dtype, types.read_dtype(in, false));
      record.info.dims = in.get_list<int64_t>();
      record.content = in.get_hash();
      TN_RETURN_IF_ERROR(read_text(in, record.file));
      record.file_offset = in.get<int64_t>();
      record.file_bytes = in.get<int64_t>();
      const auto has_names = in.get<uint8_t>();
      if (has_names > 1) return invalid_model("a source has the invalid flag {}", has_names);
      record.file_has_names = has_names != 0;
      const auto place = in.get<uint8_t>();
      if (place > static_cast<uint8_t>(SourceRecord::Place::Embedded))
        return error(Code::Incompatible, "a source has the unknown storage place {}; {}", place, kMadeByAnotherVersion);
      record.place = static_cast<SourceRecord::Place>(place);
      record.offset = in.get<int64_t>();
      record.bytes = in.get<int64_t>();
      record.packed = in.get<int32_t>();
    }
    return in.finish();
  }

  Status read_index(std::vector<PackedRecord>& records) {
    ByteReader in(bytes_of(Section::Index));
    TypeReader types(strings_);
    records.resize(in.get_count(kPackedBytes));
    for (PackedRecord& record : records) {
      record.key = in.get_hash();
      TN_ASSIGN_OR_RETURN(record.dtype, types.read_dtype(in, false));
      record.dims = in.get_list<int64_t>();
      TN_RETURN_IF_ERROR(read_text(in, record.layout));
      record.content = in.get_hash();
      record.file = in.get_hash();
      record.offset = in.get<int64_t>();
      record.bytes = in.get<int64_t>();
      record.users = in.get_list<int32_t>();
    }
    return in.finish();
  }

  std::string_view file_;
  const ArtifactFrame& frame_;
  const FindFamilyFacts& family_facts_;
  StringTable strings_;
  std::vector<std::string_view> programs_, debug_maps_;
  std::map<std::pair<uint32_t, uint32_t>, std::shared_ptr<const Program>> read_programs_;
};

}  // namespace

std::array<std::string, kSectionCount> records_to_bytes(const ArtifactContents& contents, bool with_debug_map) {
  return RecordsWriter().write(contents, with_debug_map);
}

Result<ArtifactContents> records_from_bytes(std::string_view file, const ArtifactFrame& frame,
                                            const FindFamilyFacts& family_facts) {
  TN_ASSIGN_OR_RETURN(ArtifactContents contents, RecordsReader(file, frame, family_facts).read());
  TN_RETURN_IF_ERROR(check_contents(contents, frame));
  return contents;
}

}  // namespace tenon
