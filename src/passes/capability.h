#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace tenon {

enum class Capability : uint8_t {
#define CAPABILITY(id, name, group, default_state, exactness, description) id,
#include "passes/capabilities.def"
};

enum class Exactness : uint8_t {
  Exact,        // the reference interpreter gives the same bits
  Rounding,     // results differ by rounding, within the derived tolerance
  Approximate,  // results differ by more than rounding
};
std::string_view exactness_name(Exactness exactness);

// An op that a capability writes.
struct ProducedOp {
  std::string_view domain, op_type;
  int64_t least_version;  // of the domain
};

struct CapabilityInfo {
  enum class Default : uint8_t { Off, On };

  Capability id;
  std::string_view name, group;
  Default default_state;
  Exactness exactness;
  std::string_view description;
  std::vector<Capability> needs;     // switched on with it
  std::vector<Capability> excludes;  // cannot be on together with it; each side has the other
  std::vector<ProducedOp> produces;
};

std::span<const CapabilityInfo> all_capabilities();
const CapabilityInfo& capability_info(Capability capability);
std::optional<Capability> capability_from_name(std::string_view name);

// Which capabilities are on.
class CapabilitySet {
 public:
  // Those of the normal form.
  static CapabilitySet defaults();

  bool has(Capability c) const { return bits_[static_cast<size_t>(c)]; }
  void set(Capability c, bool on) { bits_[static_cast<size_t>(c)] = on; }
  bool contains(const CapabilitySet& other) const { return (other.bits_ & ~bits_).none(); }
  friend bool operator==(const CapabilitySet&, const CapabilitySet&) = default;

 private:
  std::bitset<128> bits_;
};

// What a user's choice comes to.
struct CapabilityChoice {
  // A capability that is on because another one needs it.
  struct Added {
    Capability capability, needed_by;
  };
  CapabilitySet set = CapabilitySet::defaults();
  std::vector<Added> added;
};

// The defaults with some capabilities switched by name, and what they need. An error names a capability that does not
// exist, one that is disabled and needed, or two that exclude each other.
Result<CapabilityChoice> choose_capabilities(std::span<const std::string> enable, std::span<const std::string> disable);
// A capability and everything that it needs, and nothing else.
CapabilitySet alone(Capability capability);

}  // namespace tenon
