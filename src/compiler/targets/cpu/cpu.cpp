#include "compiler/lower.h"
#include "compiler/targets/cpu/claim.h"
#include "compiler/targets/targets.h"
#include "providers/provider.h"

namespace tenon {

namespace {

// The cpu provider's kernel where it has one, else the reference's.
std::string family_of(OpId op) {
  const std::string name(op_def(op).name);
  const std::string fast = "cpu/" + name;
  return find_family(fast) ? fast : "reference/" + name;
}

std::string exact_family_of(OpId op) {
  const std::string name(op_def(op).name);
  const std::string fast = "cpu/" + name;
  const KernelFamily* family = find_family(fast);
  return family && family->exact ? fast : "reference/" + name;
}

}  // namespace

Result<LoweredModel> lower_for_cpu(const Graph& graph) {
  Graph copy = graph.clone();
  ChangeLog log;
  // Products merge when all have been claimed with what follows them.
  for (const Rule* rule : {&claim_products(), &merge_products()})
    TN_RETURN_IF_ERROR(rewrite(copy, std::span(rule, 1), log));
  TN_ASSIGN_OR_RETURN(LoweredModel lowered, lower(copy, {family_of, exact_family_of, true}));
  lowered.misses = std::move(log.misses);
  return lowered;
}

}  // namespace tenon
