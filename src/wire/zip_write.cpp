#include <zlib.h>

#include "wire/zip.h"
#include "wire/zip_format.h"

namespace tenon::wire {

namespace {

constexpr uint16_t kVersion = 20, kVersion64 = 45;
// The first day zip knows, so that equal contents make equal archives.
constexpr uint16_t kTime = 0, kDate = 1 << 5 | 1;

template <class T>
void put(std::string& text, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) text += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xFF);
}

std::string extra_of(std::initializer_list<uint64_t> values) {
  std::string fields, extra;
  for (uint64_t value : values) put(fields, value);
  if (fields.empty()) return extra;
  put(extra, zip::kExtra64);
  put(extra, static_cast<uint16_t>(fields.size()));
  return extra + fields;
}

}  // namespace

uint32_t ZipWriter::narrow(uint64_t value) const { return wide(value) ? zip::kIn64 : static_cast<uint32_t>(value); }

// What local and central headers have in common: from the version to the length of the extra field.
void ZipWriter::put_common(std::string& text, const Added& entry, size_t extra_bytes) const {
  put<uint16_t>(text, extra_bytes > 0 ? kVersion64 : kVersion);
  put<uint16_t>(text, 1 << 11);  // names are UTF-8
  put<uint16_t>(text, zip::kStored);
  put(text, kTime);
  put(text, kDate);
  put(text, entry.crc);
  put(text, narrow(entry.size));
  put(text, narrow(entry.size));
  put(text, static_cast<uint16_t>(entry.name.size()));
  put(text, static_cast<uint16_t>(extra_bytes));
}

void ZipWriter::add(const std::string& name, const std::vector<Bytes>& pieces) {
  Added entry;
  entry.name = name;
  entry.pieces = pieces;
  entry.offset = offset_;
  uLong crc = 0;
  for (Bytes piece : pieces) {
    if (piece.empty()) continue;  // zlib starts anew for an absent one
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    entry.size += piece.size();
  }
  entry.crc = static_cast<uint32_t>(crc);
  const std::string extra = wide(entry.size) ? extra_of({entry.size, entry.size}) : std::string();
  put(entry.local_header, zip::kLocal);
  put_common(entry.local_header, entry, extra.size());
  entry.local_header += name + extra;
  offset_ += entry.local_header.size() + entry.size;
  entries_.push_back(std::move(entry));
}

std::vector<Bytes> ZipWriter::finish() {
  std::vector<Bytes> archive;
  directory_.clear();
  for (const Added& entry : entries_) {
    const bool large = wide(entry.size), far = wide(entry.offset);
    const std::string extra = large && far ? extra_of({entry.size, entry.size, entry.offset})
                              : large      ? extra_of({entry.size, entry.size})
                              : far        ? extra_of({entry.offset})
                                           : std::string();
    put(directory_, zip::kCentral);
    put(directory_, kVersion64);
    put_common(directory_, entry, extra.size());
    put<uint16_t>(directory_, 0);  // no comment
    put<uint16_t>(directory_, 0);  // first disk
    put<uint16_t>(directory_, 0);  // binary
    put<uint32_t>(directory_, 0);  // no file attributes
    put(directory_, narrow(entry.offset));
    directory_ += entry.name + extra;
    archive.push_back(entry.local_header);
    archive.insert(archive.end(), entry.pieces.begin(), entry.pieces.end());
  }
  const uint64_t count = entries_.size(), start = offset_, length = directory_.size();
  if (count >= zip::kEntriesIn64 || wide(start) || wide(length)) {
    put(directory_, zip::kEnd64);
    put<uint64_t>(directory_, zip::kEnd64Bytes - 12);
    put(directory_, kVersion64);
    put(directory_, kVersion64);
    put<uint64_t>(directory_, 0);  // this is the only disk
    put(directory_, count);
    put(directory_, count);
    put(directory_, length);
    put(directory_, start);
    put(directory_, zip::kEnd64Locator);
    put<uint32_t>(directory_, 0);
    put(directory_, start + length);
    put<uint32_t>(directory_, 1);
  }
  const auto entries = static_cast<uint16_t>(count >= zip::kEntriesIn64 ? zip::kEntriesIn64 : count);
  put(directory_, zip::kEnd);
  put<uint32_t>(directory_, 0);
  put(directory_, entries);
  put(directory_, entries);
  put(directory_, narrow(length));
  put(directory_, narrow(start));
  put<uint16_t>(directory_, 0);
  archive.push_back(directory_);
  return archive;
}

}  // namespace tenon::wire
