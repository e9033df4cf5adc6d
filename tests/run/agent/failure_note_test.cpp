// SPDX-License-Identifier: MIT
#include "run/agent/agent_protocol.hpp"

#include <catch2/catch.hpp>

#include "core/failures/rank_failure.hpp"
#include "run/agent/failure_order.hpp"

using namespace hpcml;
using namespace hpcml::agent;

TEST_CASE("a failure arrives as it was told, with any bytes in its lines") {
  failures::RankFailure note;
  note.attempt = 2;
  note.rank = 9;
  note.local_rank = 1;
  note.host = "nid000002";
  note.pid = 4194304;
  note.status = 11;
  note.gpu = "GPU 1";
  note.seconds = 12.5;
  note.out_of_memory = true;
  note.memory = "its limit of 16 GiB was reached";
  note.gpu_fault = "NVRM: Xid (PCI:0000:41:00): 79";
  note.last_lines = {std::string("a\0b\xff", 4), "", "last"};
  note.message = "ValueError: x";
  note.traceback = "Traceback\n  line 1";
  note.reported_at = 1764111784;
  note.reported_age = 3400;
  const auto event = store::unpack_message<AgentEvent>(store::pack_message(AgentEvent{2, FailedEvent{note}}));
  REQUIRE(event);
  const auto* back = &std::get<FailedEvent>(event->what).failure;
  CHECK(back->attempt == 2);
  CHECK(back->rank == 9);
  CHECK(back->local_rank == 1);
  CHECK(back->host == note.host);
  CHECK(back->pid == note.pid);
  CHECK(back->status == 11);
  CHECK(back->gpu == note.gpu);
  CHECK(back->seconds == Approx(12.5));
  CHECK(back->out_of_memory);
  CHECK(back->memory == note.memory);
  CHECK(back->gpu_fault == note.gpu_fault);
  CHECK(back->last_lines == note.last_lines);
  CHECK(back->message == note.message);
  CHECK(back->traceback == note.traceback);
  CHECK(back->reported_at == 1764111784);
  CHECK(back->reported_age == 3400);
}

TEST_CASE("bytes that are no failure, or half of one, are none") {
  const auto bytes = store::pack_message(AgentEvent{2, FailedEvent{}});
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(store::unpack_message<AgentEvent>(std::string_view(bytes).substr(0, length)));
  CHECK_FALSE(store::unpack_message<AgentEvent>(bytes + "x"));
  CHECK(store::unpack_message<AgentEvent>(bytes));
}

TEST_CASE("what the kernel tells of a GPU is why a rank ended, whatever the rank itself says") {
  failures::RankFailure note;
  note.host = "nid7";
  note.message = "torch.cuda.OutOfMemoryError: CUDA out of memory";
  failures::RankFailure second_note = note;
  note.gpu_fault = "NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.";
  CHECK(failures::find_node_fault(note) == note.gpu_fault);
  CHECK(failures::find_hint(note).find("--exclude=nid7") != std::string::npos);
  // It is the cause also where its rank is heard of later, and says that others have gone.
  note.message = "RuntimeError: Connection closed by peer";
  CHECK(precedes(note, second_note));
  CHECK_FALSE(precedes(second_note, note));
  CHECK_FALSE(precedes(note, note));
  second_note.reported_at = 5;
  CHECK(may_be_secondary(second_note));
  note.reported_at = 5;
  CHECK_FALSE(may_be_secondary(note));
}
