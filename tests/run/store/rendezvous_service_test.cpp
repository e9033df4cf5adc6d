// SPDX-License-Identifier: MIT
// Launchers that meet at a server of the loopback interface, and strangers on the port.
#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/store/rendezvous_service.hpp"
#include "run/store/session_gate.hpp"
#include "run/store/store_search.hpp"

using namespace hpcml;
using Catch::Contains;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

auto in(milliseconds time) { return std::chrono::steady_clock::now() + time; }

const store::SecretKey& job_key() {
  static const auto key = store::SecretKey::make_random();
  return key;
}

/// A meeting in a thread of its own.
class TestService {
public:
  explicit TestService(store::RendezvousServiceOptions rules, std::uint16_t port = 0)
      : x_stop(::eventfd(0, 0)), x_rendezvous(rules, [this](const std::string& line) { add(line); }),
        x_gate({job_key(), rules.job}, x_rendezvous, [this](const std::string& line) { add(line); }) {
    auto made = store::make_server({"127.0.0.1"}, {port}, {}, x_gate);
    REQUIRE(made);
    x_server = std::move(*made);
    x_rendezvous.set_port(x_server->port());
    x_gate.set_port(x_server->port());
    x_thread = std::thread([this] { (void)x_server->run(x_stop); });
  }
  ~TestService() {
    ::eventfd_write(x_stop, 1);
    x_thread.join();
    ::close(x_stop);
  }
  std::uint16_t port() const { return x_server->port(); }
  std::string output() {
    const std::lock_guard lock(x_guard);
    return x_messages;
  }
  /// Waits until this was said.
  bool reports(const std::string& text) {
    for (int i = 0; i < 12000 && output().find(text) == std::string::npos; ++i) ::usleep(5000);
    return output().find(text) != std::string::npos;
  }

private:
  void add(const std::string& line) {
    const std::lock_guard lock(x_guard);
    x_messages += line + "\n";
  }
  int x_stop;
  std::mutex x_guard;
  std::string x_messages;
  store::RendezvousService x_rendezvous;
  store::SessionGate x_gate;
  std::unique_ptr<store::Server> x_server;
  std::thread x_thread;
};

store::JoinRequest launcher(unsigned rank, unsigned world = 3) {
  store::JoinRequest who{"12.0", "0", rank, world, rank, "here", ::getpid() + rank};
  if (rank == 0) who.decision = store::MasterEndpoint{"", 0, store::AgentStoreUse::allowed, "here:16000"};
  return who;
}

store::Credentials credentials_of(const store::JoinRequest& who) {
  return {job_key(), {store::PeerRole::rank, who.job, who.step, who.rank}};
}

store::StoreSearchResult ask(const store::JoinRequest& who, std::vector<store::StoreAddress> places,
                             milliseconds timeout = seconds(60)) {
  store::StoreSearchOptions search;
  search.credentials = credentials_of(who);
  search.places = std::move(places);
  search.deadline = in(timeout);
  return store::find_store(who, search);
}

util::Result<store::FoundStore> search_at(const store::JoinRequest& who,
                                          std::vector<store::StoreAddress> places,
                                          milliseconds timeout = seconds(60)) {
  auto result = ask(who, std::move(places), timeout);
  if (result.found) return std::move(*result.found);
  return util::Error{result.reason};
}

store::StoreAddress at(std::uint16_t port) { return {"127.0.0.1", port}; }

int listen_silently(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof place;
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0);
  REQUIRE(::listen(fd, 16) == 0);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &length);
  port = ntohs(place.sin_port);
  return fd;
}

int connect_to(std::uint16_t port) {
  const auto to = store::parse_address("127.0.0.1", port);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&to->bytes), to->length) == 0);
  return fd;
}

} // namespace

TEST_CASE("every launcher gets rank 0's decision, and rank 0 hears when all are there") {
  TestService service({"12.0", ""});
  std::vector<std::thread> others;
  std::vector<store::MasterEndpoint> got(3);
  for (unsigned rank = 1; rank < 3; ++rank)
    others.emplace_back([&, rank] {
      auto found = search_at(launcher(rank), {at(service.port())});
      if (found) got[rank] = found->welcome.decision;
    });
  auto first = search_at(launcher(0), {at(service.port())});
  REQUIRE(first);
  first->client.put_get(store::k_all_here_key);
  CHECK(first->client.wait_for_value(in(seconds(60))));
  for (auto& thread : others) thread.join();
  for (unsigned rank = 1; rank < 3; ++rank) {
    CHECK(got[rank].port == service.port());
    CHECK(got[rank].agent_store == store::AgentStoreUse::allowed);
    CHECK(got[rank].coordinator == "here:16000");
  }
  CHECK(service.output().empty());
}

TEST_CASE("rank 0 waits for a rank that does not come no longer than it is told to") {
  TestService service({"12.0", "", seconds(1)});
  auto first = search_at(launcher(0), {at(service.port())});
  REQUIRE(first);
  first->client.put_get(store::k_all_here_key);
  const auto waited = first->client.wait_for_value(in(milliseconds(300)));
  REQUIRE_FALSE(waited);
  CHECK_THAT(waited.error().what,
             Contains("127.0.0.1:" + std::to_string(service.port())) && Contains("in time"));
  CHECK(service.reports("rank 2/3 has not connected for "));
  CHECK_THAT(service.output(),
             Contains(" s: its task has not started, has exited, or has not reached hpcml launch"));
  // Late, but the answer to the question is still for it.
  auto late = search_at(launcher(2), {at(service.port())});
  auto later = search_at(launcher(1), {at(service.port())});
  CHECK(first->client.wait_for_value(in(seconds(60))));
  CHECK_THAT(service.output(), Contains("rank 2/3 (here, local 2) connected, "));
}

TEST_CASE("another job's launcher, another step's and one of a world of another size are refused by name") {
  TestService service({"12.0", ""});
  REQUIRE(search_at(launcher(0), {at(service.port())}));
  const auto check_refused = [&](const store::JoinRequest& who, store::JoinError why, const char* words) {
    const auto result = ask(who, {at(service.port())}, milliseconds(1000));
    REQUIRE_FALSE(result.found);
    CHECK(result.refusal == why);
    CHECK_THAT(result.reason, Contains(words));
  };
  auto second = launcher(1);
  second.job = "13.0";
  check_refused(second, store::JoinError::job, "serves another job");
  second = launcher(1);
  second.step = "1";
  check_refused(second, store::JoinError::step, "is the rendezvous store of another step of this job");
  check_refused(launcher(1, 5), store::JoinError::size, "is the rendezvous store of 3 ranks, not 5");
  second = launcher(0);
  second.pid += 100;
  check_refused(second, store::JoinError::run, "is the rendezvous store of another run of this step");
  CHECK(search_at(launcher(1), {at(service.port())})); // and the job's own is as well off as before
}

TEST_CASE("who comes when rank 0's launcher has gone is told so, unless all were there before") {
  for (const unsigned ranks : {2U, 3U}) {
    TestService service({"12.0", ""});
    auto first = search_at(launcher(0, ranks), {at(service.port())});
    REQUIRE(first);
    REQUIRE(search_at(launcher(0, ranks), {at(service.port())})); // it had asked at another address, too
    const auto second = search_at(launcher(1, ranks), {at(service.port())});
    REQUIRE(second);
    CHECK(second->welcome.failed.empty());
    { const auto gone = std::move(first); }
    const auto late = search_at(launcher(ranks - 1, ranks), {at(service.port())});
    REQUIRE(late);
    CHECK(late->welcome.failed ==
          (ranks == 2 ? "" : "rank 0/3 (here, local 0) exited before all ranks connected"));
  }
}

TEST_CASE("a step that cannot begin is believed at once, or where doubted when no other store takes us") {
  TestService failed({"12.0", ""}), good({"12.0", ""});
  auto broken = launcher(0);
  broken.failed = "no GPU";
  broken.decision.reset();
  REQUIRE(search_at(broken, {at(failed.port())}));
  const auto look = [&](std::vector<store::StoreAddress> places, milliseconds doubt) {
    store::StoreSearchOptions search;
    search.credentials = credentials_of(launcher(1));
    search.places = std::move(places);
    search.deadline = in(seconds(60));
    search.failure_retry_window = doubt;
    auto result = store::find_store(launcher(1), search);
    REQUIRE(result.found);
    return result.found->welcome.failed;
  };
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(look({at(failed.port()), at(good.port())}, milliseconds(0)), Contains("no GPU"));
  CHECK_THAT(look({at(failed.port()), at(good.port())}, milliseconds(300)), Contains("no GPU"));
  CHECK(std::chrono::steady_clock::now() - start < seconds(30));
  std::thread late([&] {
    ::usleep(300'000);
    auto leader = launcher(0);
    leader.pid += 100;
    (void)search_at(leader, {at(good.port())});
  });
  CHECK(look({at(failed.port()), at(good.port())}, seconds(30)).empty());
  late.join();
}

TEST_CASE("a step's store is found behind silent, foreign and closed ports") {
  std::uint16_t silent_port = 0, foreign_port = 0, closed_port = 0;
  const int silent = listen_silently(silent_port), foreign = listen_silently(foreign_port);
  ::close(listen_silently(closed_port));
  std::thread web([&] {
    const int fd = ::accept(foreign, nullptr, nullptr);
    const std::string words = "HTTP/1.1 400 Bad Request\r\n\r\n";
    CHECK(::send(fd, words.data(), words.size(), MSG_NOSIGNAL) > 0);
    ::usleep(100'000);
    ::close(fd);
  });
  TestService second({"99.0", ""}), service({"12.0", ""});
  REQUIRE(search_at(launcher(0), {at(service.port())}));
  const auto found = search_at(launcher(1), {at(silent_port), at(foreign_port), at(closed_port),
                                             at(second.port()), at(service.port())});
  REQUIRE(found);
  CHECK(found->place.port == service.port());
  web.join();
  ::close(silent);
  ::close(foreign);
}

TEST_CASE("a store that is not there is named with what the kernel says, and a late one is found") {
  std::uint16_t port = 0;
  ::close(listen_silently(port));
  const auto none = search_at(launcher(1), {at(port)}, milliseconds(500));
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().what, Contains("127.0.0.1:" + std::to_string(port)) && Contains("refused"));
  std::unique_ptr<TestService> service;
  std::thread late([&] {
    ::usleep(300'000);
    service = std::make_unique<TestService>(store::RendezvousServiceOptions{"12.0", ""}, port);
    (void)search_at(launcher(0), {at(port)});
  });
  CHECK(search_at(launcher(1), {at(port)}));
  late.join();
}

TEST_CASE("garbage, half a message, one who never reads: the ranks that meet there do not notice") {
  TestService service({"12.0", ""});
  const int garbage = connect_to(service.port()), half = connect_to(service.port()),
            deaf = connect_to(service.port());
  const std::string noise(100, '\xee');
  CHECK(::send(garbage, noise.data(), noise.size(), MSG_NOSIGNAL) == 100);
  CHECK(::send(half, "\x00\xce\xf7\x85\x3c\x01\x10", 7, MSG_NOSIGNAL) == 7);
  // Asks, and asks again, and takes no answer.
  std::string questions("\x00\xce\xf7\x85\x3c", 5);
  for (int i = 0; i < 20000; ++i) questions += std::string("\x0d\x01\x02\x03\x04", 5);
  ::fcntl(deaf, F_SETFL, O_NONBLOCK);
  (void)!::send(deaf, questions.data(), questions.size(), MSG_NOSIGNAL);
  CHECK(service.reports("rejected a client at 127.0.0.1: unknown operation 238"));
  auto first = search_at(launcher(0, 2), {at(service.port())});
  REQUIRE(first);
  REQUIRE(search_at(launcher(1, 2), {at(service.port())}));
  first->client.put_get(store::k_all_here_key);
  CHECK(first->client.wait_for_value(in(seconds(60))));
  for (const int fd : {garbage, half, deaf}) ::close(fd);
}

TEST_CASE("a meeting that is to stop goes on for programs of other nodes, and for nobody else") {
  const auto now = std::chrono::steady_clock::now();
  class NoAnswers : public store::AnswerSink {
    void bytes(store::ClientId, std::string_view) override {}
    void value(store::ClientId, const store::SharedValue&) override {}
  } answers;
  store::TcpStoreMessage ping, show, get;
  ping.op = store::StoreOpcode::ping;
  show.op = get.op = store::StoreOpcode::get;
  show.keys = {store::k_missing_key};
  get.keys = {"default/0"};
  const auto rendezvous_of =
      [&](const std::vector<std::pair<std::string, const store::TcpStoreMessage*>>& clients) {
        auto rendezvous = std::make_unique<store::RendezvousService>(
            store::RendezvousServiceOptions{"12.0", "0"}, [](const auto&) {});
        rendezvous->stay_for_others({"10.0.0.1", "fd00::1"});
        for (store::ClientId id = 0; id < clients.size(); ++id) {
          rendezvous->connected(id, clients[id].first, now);
          if (clients[id].second) (void)rendezvous->on_message(id, *clients[id].second, answers, now);
        }
        return rendezvous;
      };
  CHECK_FALSE(rendezvous_of({})->outlasts_stop(now));
  CHECK_FALSE(rendezvous_of({{"10.0.0.1", &ping}, {"fd00::1", &get}, {"127.0.0.1", &ping}, {"::1", &get}})
                  ->outlasts_stop(now));
  CHECK_FALSE(rendezvous_of({{"10.0.0.2", nullptr}, {"10.0.0.2", &show}})->outlasts_stop(now));
  const auto rendezvous = rendezvous_of({{"10.0.0.2", &ping}, {"fd00::2", &get}, {"10.0.0.1", &ping}});
  (void)rendezvous->on_message(0, get, answers, now + std::chrono::minutes(30));
  CHECK(rendezvous->outlasts_stop(now));
  CHECK(rendezvous->outlasts_stop(now + std::chrono::minutes(89)));
  CHECK_FALSE(
      rendezvous->outlasts_stop(now + std::chrono::minutes(90))); // none has said anything for an hour
  rendezvous->left(0, "10.0.0.2", {}, now);
  CHECK(rendezvous->outlasts_stop(now));
  rendezvous->left(1, "fd00::2", {}, now);
  CHECK_FALSE(rendezvous->outlasts_stop(now));
}

TEST_CASE("places are read as they are written") {
  using Place = std::pair<std::string, std::uint16_t>;
  CHECK(store::parse_place("node1:29500") == Place("node1", 29500));
  CHECK(store::parse_place("[fd00::1]:80") == Place("fd00::1", 80));
  for (const char* none : {"", "node1", ":80", "node1:", "node1:0", "node1:65536", "fd00::1:80", "a:b"})
    CHECK_FALSE(store::parse_place(none));
  CHECK(store::place_text("fd00::1", 80) == "[fd00::1]:80");
}
