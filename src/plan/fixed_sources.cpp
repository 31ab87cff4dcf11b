#include "plan/fixed_sources.h"

#include "plan/property.h"

namespace tenon {

std::vector<bool> fixed_sources(const Program& program) {
  std::vector<bool> fixed;
  for (const SourceInfo& source : program.sources) fixed.push_back(source.name.empty());
  for (const Guard& guard : program.guards) {
    const auto property = property_from_text(guard.property);
    if (!property || property->is_about_elements()) fixed[static_cast<size_t>(guard.source)] = true;
  }
  return fixed;
}

}  // namespace tenon
