#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// Where a node's metadata says it.
inline constexpr std::string_view kProvenanceKey = "tenon.made_by";

// What a node that rules made came from: by which rules, the first one first, and from which nodes of the file. Lists
// are kept short, so that chains of rules cost no more than one.
struct Provenance {
  std::vector<std::string> rules, nodes;
  size_t more = 0;  // nodes that are not named

  void add_rule(std::string_view rule);
  void add_node(std::string_view name);
  // All that another node came from. Rules of the other one were first.
  void add(const Provenance& other);

  // "fuse_gelu, fuse_bias_gelu from Erf_3, Mul_4 and 2 more", at most about a kilobyte; parse reads it back.
  std::string to_text() const;
  static std::optional<Provenance> parse(std::string_view text);

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

}  // namespace tenon
