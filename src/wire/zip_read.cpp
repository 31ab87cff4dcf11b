#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "wire/zip.h"
#include "wire/zip_format.h"

namespace tenon::wire {

namespace {

Status bad_zip(const char* what) { return invalid_argument("not a valid zip archive: {}", what); }

// Little-endian numbers at a position of the archive; nothing outside of it.
class Archive {
 public:
  explicit Archive(Bytes bytes) : bytes_(bytes) {}
  template <class T>
  std::optional<T> number(uint64_t position) const {
    if (position > bytes_.size() || bytes_.size() - position < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + position, sizeof value);
    return value;
  }
  std::optional<Bytes> part(uint64_t position, uint64_t length) const {
    if (position > bytes_.size() || bytes_.size() - position < length) return std::nullopt;
    return bytes_.substr(position, length);
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  Bytes bytes_;
};

struct Directory {
  uint64_t offset = 0, entries = 0;
};

// The end record lies before a comment of unknown length.
std::optional<uint64_t> find_end(const Archive& archive) {
  if (archive.size() < zip::kEndBytes) return std::nullopt;
  const uint64_t last = archive.size() - zip::kEndBytes;
  const uint64_t first = last > 0xFFFF ? last - 0xFFFF : 0;
  for (uint64_t position = last + 1; position-- > first;)
    if (archive.number<uint32_t>(position) == zip::kEnd) return position;
  return std::nullopt;
}

Result<Directory> find_directory(const Archive& archive) {
  const auto end = find_end(archive);
  if (!end) return bad_zip("the central directory is missing (is the file truncated?)");
  Directory directory{*archive.number<uint32_t>(*end + 16), *archive.number<uint16_t>(*end + 10)};
  if (*end < zip::kEnd64LocatorBytes || archive.number<uint32_t>(*end - zip::kEnd64LocatorBytes) != zip::kEnd64Locator)
    return directory;
  const auto end64 = archive.number<uint64_t>(*end - zip::kEnd64LocatorBytes + 8);
  if (!end64 || archive.number<uint32_t>(*end64) != zip::kEnd64) return bad_zip("the zip64 directory is missing");
  const auto entries = archive.number<uint64_t>(*end64 + 32), offset = archive.number<uint64_t>(*end64 + 48);
  if (!entries || !offset) return bad_zip("the zip64 directory is truncated");
  return Directory{*offset, *entries};
}

// Sizes and offset that did not fit into 32 bits are in an extra field, in this order.
Status read_zip64_extra(Bytes extra, uint64_t& size, uint64_t& stored, uint64_t& offset) {
  if (size != zip::kIn64 && stored != zip::kIn64 && offset != zip::kIn64) return {};
  const Archive fields(extra);
  for (uint64_t position = 0; position + 4 <= extra.size();) {
    const uint16_t id = *fields.number<uint16_t>(position), length = *fields.number<uint16_t>(position + 2);
    position += 4;
    if (id == zip::kExtra64) {
      uint64_t at = position;
      for (uint64_t* value : {&size, &stored, &offset}) {
        if (*value != zip::kIn64) continue;
        const auto wide = fields.number<uint64_t>(at);
        if (!wide) return bad_zip("a zip64 entry is truncated");
        *value = *wide;
        at += 8;
      }
      return {};
    }
    position += length;
  }
  return bad_zip("a zip64 entry has no sizes");
}

Result<ZipEntry> read_entry(const Archive& archive, uint64_t& position) {
  const auto header = archive.part(position, zip::kCentralBytes);
  if (!header || archive.number<uint32_t>(position) != zip::kCentral)
    return bad_zip("the central directory is truncated");
  const Archive fields(*header);
  const uint16_t flags = *fields.number<uint16_t>(8), method = *fields.number<uint16_t>(10);
  ZipEntry entry;
  entry.crc = *fields.number<uint32_t>(16);
  uint64_t stored = *fields.number<uint32_t>(20), offset = *fields.number<uint32_t>(42);
  entry.size = *fields.number<uint32_t>(24);
  const uint64_t name_bytes = *fields.number<uint16_t>(28), extra_bytes = *fields.number<uint16_t>(30);
  const auto name = archive.part(position + zip::kCentralBytes, name_bytes);
  const auto extra = archive.part(position + zip::kCentralBytes + name_bytes, extra_bytes);
  if (!name || !extra) return bad_zip("the central directory is truncated");
  entry.name = std::string(*name);
  position += zip::kCentralBytes + name_bytes + extra_bytes + *fields.number<uint16_t>(32);
  TN_RETURN_IF_ERROR(read_zip64_extra(*extra, entry.size, stored, offset));
  if (flags & zip::kEncrypted) return unsupported("entry '{}' is encrypted", entry.name);
  if (method != zip::kStored && method != zip::kDeflated)
    return unsupported("entry '{}' uses compression method {}; only deflate is supported", entry.name, method);
  entry.deflated = method == zip::kDeflated;

  const auto local_name = archive.number<uint16_t>(offset + 26), local_extra = archive.number<uint16_t>(offset + 28);
  if (archive.number<uint32_t>(offset) != zip::kLocal || !local_name || !local_extra)
    return bad_zip("an entry is not at the position listed in the directory");
  const auto data = archive.part(offset + zip::kLocalBytes + *local_name + *local_extra, stored);
  if (!data || (!entry.deflated && stored != entry.size))
    return bad_zip("an entry's size differs from the size listed in the directory");
  entry.stored = *data;
  return entry;
}

uint32_t checksum(Bytes bytes) {
  return static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<std::vector<ZipEntry>> parse_zip(Bytes bytes) {
  const Archive archive(bytes);
  TN_ASSIGN_OR_RETURN(const Directory directory, find_directory(archive));
  std::vector<ZipEntry> entries;
  uint64_t position = directory.offset;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    TN_ASSIGN_OR_RETURN(auto entry, read_entry(archive, position));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Status check_stored_entry(const ZipEntry& entry) {
  if (checksum(entry.stored) != entry.crc) return invalid_argument("entry '{}' has a wrong checksum", entry.name);
  return {};
}

Result<std::string> entry_beginning(const ZipEntry& entry, size_t most) {
  if (!entry.deflated) return std::string(entry.stored.substr(0, most));
  std::string beginning(std::min<uint64_t>(entry.size, most), '\0');
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return error(Code::ResourceLimit, "not enough memory to decompress");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(entry.stored.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(entry.stored.size(), std::numeric_limits<uInt>::max()));
  stream.next_out = reinterpret_cast<Bytef*>(beginning.data());
  stream.avail_out = static_cast<uInt>(beginning.size());
  const int outcome = ::inflate(&stream, Z_SYNC_FLUSH);
  ::inflateEnd(&stream);
  if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
    return invalid_argument("entry '{}' is damaged", entry.name);
  beginning.resize(beginning.size() - stream.avail_out);
  return beginning;
}

Result<std::shared_ptr<Buffer>> inflate_entry(const ZipEntry& entry, const std::shared_ptr<MemoryBudget>& budget) {
  // Deflate makes at most 1032 bytes of one.
  constexpr uint64_t kMaxRatio = 1032;
  if (entry.size / kMaxRatio > entry.stored.size())
    return invalid_argument("entry '{}' claims {} bytes, more than its {} compressed bytes can hold", entry.name,
                            entry.size, entry.stored.size());
  TN_ASSIGN_OR_RETURN(auto result, Buffer::allocate(static_cast<int64_t>(entry.size), budget));
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return error(Code::ResourceLimit, "not enough memory to decompress");
  Bytes from = entry.stored;
  uint64_t made = 0;
  int outcome = Z_OK;
  while (outcome == Z_OK) {
    // zlib counts in 32 bits.
    constexpr size_t kStep = size_t{1} << 30;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream.avail_in = static_cast<uInt>(std::min(from.size(), kStep));
    stream.next_out = reinterpret_cast<Bytef*>(result->data() + made);
    stream.avail_out = static_cast<uInt>(std::min<uint64_t>(entry.size - made, kStep));
    const uInt in_before = stream.avail_in, out_before = stream.avail_out;
    outcome = ::inflate(&stream, Z_NO_FLUSH);
    from.remove_prefix(in_before - stream.avail_in);
    made += out_before - stream.avail_out;
  }
  ::inflateEnd(&stream);
  if (outcome != Z_STREAM_END || made != entry.size || !from.empty() ||
      checksum({reinterpret_cast<const char*>(result->data()), entry.size}) != entry.crc)
    return invalid_argument("entry '{}' is damaged: only {} of {} bytes can be decompressed", entry.name, made,
                            entry.size);
  return result;
}

}  // namespace tenon::wire
