// SPDX-License-Identifier: Apache-2.0
#include "sim/result/utilisation.hpp"

#include <map>
#include <stdexcept>

namespace llmscape::result {
namespace {

struct DeviceTime {  // summed over the devices of a group
  Seconds provisioned, busy;
  Seconds rounding;  // of busy: a step begins and ends at instants, doubles of the clock
  std::array<Seconds, hardware::kResources> by_resource{};
};

std::map<std::string, DeviceTime> device_times(const Parts& parts, const serving::Gateway& gateway,
                                               const Portion& portion) {
  std::map<std::string, DeviceTime> times;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    DeviceTime& time = times[parts.devices[r]->name];
    const serving::StepUse& use = portion.replicas[r];
    const auto devices = static_cast<double>(parts.devices_of_replica[r]);
    time.provisioned += portion.devices_on(parts, gateway, r) * static_cast<double>(parts.devices_counted[r]);
    time.busy += use.busy * devices;
    time.rounding += portion.to * (devices * static_cast<double>(parts.replicas[r]->totals().steps) * 0x1p-52);
    for (std::size_t i = 0; i < time.by_resource.size(); ++i) time.by_resource[i] += use.busy_by_resource[i] * devices;
  }
  return times;
}

}  // namespace

std::vector<GroupUse> utilisation_of(const Parts& parts, const serving::Gateway& gateway, const Portion& portion) {
  std::vector<GroupUse> all;
  for (const auto& [group, time] : device_times(parts, gateway, portion)) {
    if (time.provisioned == Seconds()) continue;
    if (time.busy > time.provisioned * (1 + 1e-9))
      throw std::logic_error("INV-8: '" + group + "' worked for longer than it was switched on");
    GroupUse& use = all.emplace_back(GroupUse{group, time.busy / time.provisioned, {}});  // 0 where no step ran
    for (std::size_t i = 0; i < time.by_resource.size(); ++i) {
      const Seconds some = time.by_resource[i];
      if (some > time.busy * (1 + 1e-9) + time.rounding)
        throw std::logic_error("INV-8: the part '" + std::string(hardware::kResourceNames[i]) + "' of '" + group +
                               "' worked for longer than its steps lasted");
      if (some > Seconds())
        use.parts.push_back({std::string(hardware::kResourceNames[i]), some / time.provisioned, some / time.busy});
    }
  }
  return all;
}

}  // namespace llmscape::result
