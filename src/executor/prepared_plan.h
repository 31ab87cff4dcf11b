#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/plan.h"
#include "providers/provider.h"

namespace tenon {

// Where an error comes from: "node 'encoder.3' (MatMul)".
std::string place_of(const Step& step);

// A value that a segment produces, with the shape it has there.
struct PlacedValue {
  enum class Place : uint8_t {
    Arena,    // dense, at `offset` of the segment's arena
    Output,   // dense, an output of the plan: its own tensor, or the caller's buffer
    Strings,  // a string tensor of known dims
    Decided,  // the kernel brings it
  };
  PlanValueId value = kNoValue;
  Place place = Place::Decided;
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;
  int64_t offset = 0;
};

// Steps [begin, end) with every shape solved and every buffer placed. Immutable once made.
// A segment ends where a later shape depends on data that only running it can tell.
struct Segment {
  size_t begin = 0, end = 0;
  std::vector<std::vector<PlacedValue>> placed;  // per step
  int64_t arena_bytes = 0;

  // Arenas not in use by a run.
  mutable std::mutex arena_mutex;
  mutable std::vector<std::shared_ptr<Buffer>> free_arenas;
};

// A plan with its kernels found and its lifetimes known; shared by all runs of a session. Thread-safe.
class PreparedPlan {
 public:
  // fixed_slots: by slot, whether all weights that fit the program have the same elements there; null: none.
  static Result<std::unique_ptr<PreparedPlan>> make(
      const Plan& plan, int64_t cached_segments, const std::shared_ptr<const std::vector<bool>>& fixed_slots = nullptr);

  const Plan& plan() const { return plan_; }
  const Kernel& kernel(size_t step) const { return kernels_[step]; }
  const PreparedPlan& body(size_t step, size_t index) const { return *bodies_[step][index]; }
  // The last step that reads a value; plan outputs live to the end, unread values die where they are made.
  size_t last_use(PlanValueId value) const { return last_use_[static_cast<size_t>(value)]; }
  bool is_output(PlanValueId value) const { return is_output_[static_cast<size_t>(value)]; }
  // True when a value is a weight whose elements no swap can change.
  bool is_fixed(PlanValueId value) const;
  bool is_made_by_step(PlanValueId value) const { return made_at_[static_cast<size_t>(value)] > 0; }
  // Boxed values that no later step needs.
  const std::vector<PlanValueId>& dead_after(size_t step) const { return dead_after_[step]; }
  // Values made before `step` (inputs and captures included) that `step` or a later one reads.
  std::vector<PlanValueId> live_into(size_t step) const;

  // The cache of segments by start and shapes. Bounded; the least recently used goes first.
  std::shared_ptr<const Segment> find_segment(const std::string& key) const;
  void keep_segment(const std::string& key, std::shared_ptr<const Segment> segment) const;
  // Values whose contents decided shapes in segments that begin at `start`; they are part of the key.
  std::vector<PlanValueId> content_keys(size_t start) const;
  void add_content_key(size_t start, PlanValueId value) const;
  // Frees the arenas that no run uses, here and in the bodies.
  void release_idle_arenas() const;

 private:
  explicit PreparedPlan(const Plan& plan) : plan_(plan) {}
  void find_lifetimes();

  const Plan& plan_;
  std::shared_ptr<const std::vector<bool>> fixed_slots_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<std::unique_ptr<PreparedPlan>>> bodies_;
  std::vector<size_t> made_at_;  // step + 1; 0 for inputs, captures and slots
  std::vector<size_t> last_use_;
  std::vector<bool> is_output_;
  std::vector<std::vector<PlanValueId>> dead_after_;

  size_t capacity_ = 64;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<std::string, std::shared_ptr<const Segment>>> recent_;
  mutable std::unordered_map<std::string, decltype(recent_)::iterator> index_;
  mutable std::unordered_map<size_t, std::vector<PlanValueId>> content_keys_;
};

// The slots that are made of constants nobody can replace: literals, and sources that guards hold.
std::shared_ptr<const std::vector<bool>> fixed_slots(const Program& program);

}  // namespace tenon
