#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/segment.h"

namespace tenon {

class PlanRun;

// Where an error comes from: "node 'encoder.3' (MatMul)".
std::string place_of(const Step& step);

// What binding depends on beside shapes.
struct BindOptions {
  int64_t cached_segments = 64;
  Isa isa = usable_isas().front();
  int threads = 1;  // that may work at one step
  bool keep_subnormals = false;
  // By slot, whether all weights that fit the program have the same elements there; null: none.
  std::shared_ptr<const std::vector<bool>> fixed_slots;
};

// A plan with its kernels found and its lifetimes known; shared by all runs of a session. Thread-safe.
class PreparedPlan {
 public:
  static Result<std::unique_ptr<PreparedPlan>> make(const Plan& plan, const BindOptions& options);
  ~PreparedPlan();

  const Plan& plan() const { return plan_; }
  const BindOptions& options() const { return options_; }
  const KernelFamily& family(size_t step) const { return *families_[step]; }
  const PreparedPlan& body(size_t step, size_t index) const { return *bodies_[step][index]; }
  // The last step that reads a value; plan outputs live to the end, unread values die where they are made.
  size_t last_use(PlanValueId value) const { return last_use_[static_cast<size_t>(value)]; }
  bool is_output(PlanValueId value) const { return is_output_[static_cast<size_t>(value)]; }
  // True when a value is a weight whose elements no swap can change.
  bool is_fixed(PlanValueId value) const;
  // Values that no later step needs.
  const std::vector<PlanValueId>& dead_after(size_t step) const { return dead_after_[step]; }
  // By axis of a plan input, its late dim (an index into Plan::late_dims) or -1; empty when it has none, or when runs
  // of this plan cannot share bindings.
  std::span<const int> late_axes(PlanValueId value) const;
  bool has_late_dims() const { return !late_axes_.empty() && !binds_exactly_.load(std::memory_order_relaxed); }
  // The largest extent of the class that an extent is in.
  int64_t capacity(int late, int64_t extent) const;
  // From now on each tuple of shapes has a binding of its own.
  void bind_exactly() const { binds_exactly_.store(true, std::memory_order_relaxed); }
  // Values made before `step` (inputs and captures included) that `step` or a later one reads.
  std::vector<PlanValueId> live_into(size_t step) const;

  // The cache of segments by start and types; several may hold for other contents. Bounded; the least recently used
  // goes first. fits: whether a segment holds for the contents at hand.
  std::shared_ptr<const Segment> find_segment(const std::string& types, FunctionRef<bool(const Segment&)> fits) const;
  void keep_segment(const std::shared_ptr<const Segment>& segment) const;
  size_t segment_count() const;

  // A run that is not under way, preferably one that `fits`; null when there is none to be had.
  std::unique_ptr<PlanRun> take_run(FunctionRef<bool(const PlanRun&)> fits) const;
  void give_back(std::unique_ptr<PlanRun> run) const;

 private:
  explicit PreparedPlan(const Plan& plan);
  void find_lifetimes();
  void find_late_axes();

  const Plan& plan_;
  BindOptions options_;
  std::vector<const KernelFamily*> families_;
  std::vector<std::vector<std::unique_ptr<PreparedPlan>>> bodies_;
  std::vector<size_t> made_at_;  // step + 1; 0 for inputs, captures and slots
  std::vector<size_t> last_use_;
  std::vector<bool> is_output_;
  std::vector<std::vector<PlanValueId>> dead_after_;

  std::unordered_map<PlanValueId, std::vector<int>> late_axes_;
  mutable std::atomic<bool> binds_exactly_{false};

  mutable std::mutex mutex_;
  mutable std::list<std::shared_ptr<const Segment>> recent_;
  mutable std::unordered_multimap<std::string, decltype(recent_)::iterator> index_;
  mutable std::vector<std::unique_ptr<PlanRun>> idle_;  // the one that was used last is last
};

// The slots that are made of constants nobody can replace: literals, and sources that guards hold.
std::shared_ptr<const std::vector<bool>> fixed_slots(const Program& program);

}  // namespace tenon
