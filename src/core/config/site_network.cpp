// SPDX-License-Identifier: MIT
// The network and the storage of a profile.
#include "core/config/member_factory.hpp"
#include "core/config/site_parts.hpp"

namespace hpcml::config {

template <> const ObjectSchema<model::MasterAddressRule>& schema_of() {
  using T = model::MasterAddressRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::interface>("interface", TextRule::name,
                             "The ranks connect to the IPv4 address of this interface of the first node."),
      M::text<&T::suffix>("suffix", TextRule::suffix, "Appended to the first node's name: i."),
      M::yes_no<&T::ipv4>("ipv4", "The name is resolved to an IPv4 address."),
      M::text<&T::from_env>("from_env", TextRule::variable,
                            "Variable in which the site gives the first node."),
      M::text<&T::port_from_env>("port_from_env", TextRule::variable,
                                 "Variable in which the site gives a free port."),
      M::number<&T::port>("port", 1024, 65535, "A port that the site prescribes."),
  });
  static constexpr ObjectSchema<T> k_schema{"master", "Where the rendezvous of the ranks is.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::NetworkRule>& schema_of() {
  using T = model::NetworkRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::texts<&T::interfaces>("interfaces", TextRule::interface,
                               "IP interfaces that Gloo and NCCL use, as ip link prints them: ib0, hsn0."),
      M::text<&T::fabric>("fabric", TextRule::line, "For users: InfiniBand NDR, 4 x 200 Gb/s."),
      M::yes_no<&T::internet_on_compute>("internet_on_compute", "Whether compute nodes reach the internet."),
      M::text_map<&T::proxy>("proxy", TextRule::variable, TextRule::line,
                             "Variables of the proxy: http_proxy, https_proxy, all_proxy, no_proxy."),
      M::text<&T::proxy_module>("proxy_module", TextRule::word, "Module that sets them."),
      M::texts<&T::allowed_hosts>("allowed_hosts", TextRule::line,
                                  "The only hosts that compute nodes reach, where there is such a list."),
      M::object<&T::master>("master"),
  });
  static constexpr ObjectSchema<T> k_schema{
      "network", "Network of the compute nodes.", k_members,
      [](ObjectReader& object, T& network) { network.proxy_origin = object.origin("proxy"); }};
  return k_schema;
}

template <> const ObjectSchema<model::StorageRule>& schema_of() {
  using T = model::StorageRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::scratch>(
          "scratch", TextRule::expression,
          "Large and fast directory of a user that all nodes share: a path or a variable, such as "
          "/scratch/$USER or $SCRATCH."),
      M::number<&T::scratch_days>("scratch_days", 1, 10000, "Days after which unused files are removed."),
      M::text<&T::project>("project", TextRule::expression, "Shared by a project."),
      M::texts<&T::read_only_on_compute>("read_only_on_compute", TextRule::expression,
                                         "Directories that compute nodes cannot write."),
      M::yes_no<&T::tmp_is_memory>("tmp_is_memory", "/tmp counts as the job's memory."),
  });
  static constexpr ObjectSchema<T> k_schema{"storage", "File systems.", k_members};
  return k_schema;
}

} // namespace hpcml::config
