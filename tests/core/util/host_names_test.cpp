// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "core/util/host_names.hpp"

using namespace hpcml::util;
using Names = std::vector<std::string>;

TEST_CASE("a short host name gets the longer ones that the machine's files give it") {
  CHECK(make_host_names("login1",
                        "10.0.0.1 login1.site.org login1 # main\n10.0.0.2 login10.site.org login10\n",
                        "") == Names{"login1", "login1.site.org"});
  CHECK(
      make_host_names("login1", "", "# resolver\nsearch cluster.site.org site.org\nnameserver 10.0.0.1\n") ==
      Names{"login1", "login1.cluster.site.org", "login1.site.org"});
  CHECK(make_host_names("login1", "127.0.1.1 login1.a.org login1\n", "domain a.org\n") ==
        Names{"login1", "login1.a.org"});
}

TEST_CASE("the short name of a host ends at its first dot") {
  CHECK(short_host_name("nid001.example.org") == "nid001");
  CHECK(short_host_name("nid001") == "nid001");
}

TEST_CASE("a full host name stays alone, and none gives none") {
  CHECK(make_host_names("login1.site.org", "10.0.0.1 login1.other.org login1.site.org\n", "search x.org\n") ==
        Names{"login1.site.org"});
  CHECK(make_host_names("", "127.0.0.1 localhost\n", "search x.org\n").empty());
}

TEST_CASE("an address that is every node's own is told from a name that begins like one") {
  for (const char* own : {"127.0.0.1", "127.0.1.1", "::1", "[::1]", "localhost", "localhost.localdomain"})
    CHECK(is_loopback_address(own));
  for (const char* other_name :
       {"", "127.example.org", "localhost1", "10.127.0.1", "::2", "[fd00::1]", "1270.0.0.1"})
    CHECK_FALSE(is_loopback_address(other_name));
}
