#include "artifact/weights_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tenon {

namespace {

std::optional<Hash128> id_of(const FileHandle& file, const std::string& name) {
  const auto start = read_region(file, 0, kHeaderBytes, name);
  if (!start.ok()) return std::nullopt;
  return content_id_in_header({reinterpret_cast<const char*>((*start)->data()), static_cast<size_t>(kHeaderBytes)});
}

}  // namespace

Result<std::shared_ptr<const WeightsFile>> find_weights_file(const ConfinedFolders& folders, const std::string& where,
                                                             const Hash128& id, const WeightsFileOptions& options) {
  const std::string ending = "-" + id.hex().substr(0, 8) + ".bin";
  const auto is_named_so = [&](const std::string& name) { return name.ends_with(ending); };
  TN_ASSIGN_OR_RETURN(auto names, folders.names());
  std::ranges::sort(names, {}, [&](const std::string& name) { return std::pair(!is_named_so(name), name); });
  std::string reasons;
  for (const std::string& name : names) {
    auto file = folders.open(name);
    if (!file.ok()) {
      if (is_named_so(name)) reasons += "; " + file.status().to_string();
      continue;
    }
    if (id_of(*file, name) != id) {
      if (is_named_so(name)) reasons += fmt::format("; '{}' is a different file", name);
      continue;
    }
    auto found = WeightsFile::open(*file, where + "/" + name, options);
    if (found.ok()) return found;
    reasons += "; " + found.status().to_string();
  }
  return error(Code::NotFound, "the weights file *{} ({}), which holds some of the weights, is not in '{}'{}", ending,
               id.hex(), where, reasons);
}

std::map<std::string, Hash128> weights_file_ids(const std::string& folder, const std::vector<std::string>& names) {
  std::map<std::string, Hash128> ids;
  for (const std::string& name : names)
    if (const auto file = open_for_reading(folder + "/" + name); file.ok())
      if (const auto id = id_of(*file, name)) ids.emplace(name, *id);
  return ids;
}

}  // namespace tenon
