#include "base/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <span>

namespace tenon {

namespace {

struct Search {
  uintptr_t address = 0;
  std::string id;
};

bool contains(const dl_phdr_info& object, uintptr_t address) {
  for (const ElfW(Phdr) & part : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
    const uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz) return true;
  }
  return false;
}

size_t padded(size_t size) { return (size + 3) & ~size_t{3}; }

// A list of notes, each a header, a name and a description, both padded.
std::string id_in_notes(std::span<const unsigned char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const size_t name = padded(header.n_namesz), description = padded(header.n_descsz);
    if (name + description > notes.size()) return "";
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes.data(), "GNU", 4) == 0) {
      std::string id;
      for (const unsigned char byte : notes.subspan(name, header.n_descsz)) id += fmt::format("{:02x}", byte);
      return id;
    }
    notes = notes.subspan(name + description);
  }
  return "";
}

int look_at(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!contains(*object, search.address)) return 0;
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum))
    if (part.p_type == PT_NOTE && search.id.empty())
      search.id = id_in_notes(
          {reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz});  // NOLINT
  return 1;
}

}  // namespace

std::string build_id_at(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  ::dl_iterate_phdr(look_at, &search);
  return search.id;
}

std::string own_build_id() {
  static const char here = 0;
  return build_id_at(&here);
}

}  // namespace tenon
