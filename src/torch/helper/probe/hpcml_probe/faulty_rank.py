# SPDX-License-Identifier: MIT
# Whose fault it is, from what pairs of ranks saw of each other (src/torch/helper/faulty_rank.cpp, pairing.cpp). Pure.


class Observation:
    """What one rank saw when it was alone with one other; `kinds` of I(nput) S(um) M(essage) B(roken)."""

    def __init__(self, by, other, kinds="", text=""):
        self.by, self.other, self.kinds, self.text = by, other, kinds, text


class FaultAttribution:
    def __init__(self, faulty, how, advice):
        self.faulty, self.how, self.next = faulty, how, advice


def rounds_of(count):
    return 0 if count < 2 else count + count % 2 - 1


def partner_of(player, count, turn):
    """Who meets whom in a tournament; nothing for the one that rests."""
    circle = rounds_of(count)  # all but the last one sit in a circle, which turns
    if circle == 0:
        return None
    last, turn = count + count % 2 - 1, turn % circle
    if player == last:
        partner = turn
    elif player == turn:
        partner = last
    else:
        partner = (2 * turn - player) % circle
    return partner if partner < count else None


def list_ranks(ranks):
    shown = ", ".join(str(rank) for rank in ranks[:8])
    more = " and %d more" % (len(ranks) - 8) if len(ranks) > 8 else ""
    return ("rank " if len(ranks) == 1 else "ranks ") + shown + more


def find_covers(pairs, limit, chosen, found):
    """Every set of at most `limit` members that has a part in each pair."""
    left = next((pair for pair in sorted(pairs) if not chosen & set(pair)), None)
    if left is None:
        found.add(frozenset(chosen))
    elif limit > 0:
        for member in left:
            find_covers(pairs, limit - 1, chosen | {member}, found)


def only_explanation(failed):
    """The one smallest set that explains all failures; empty where there are several, or it would be large."""
    for size in range(1, 5):
        found = set()
        find_covers(failed, size, frozenset(), found)
        if found:
            return next(iter(found)) if len(found) == 1 else frozenset()
    return frozenset()


def convicted(failed, met):
    """Those who failed with two others at least, and with most of the others that they met."""
    faulty = only_explanation(failed)

    def partners(pairs, one):
        return sum(one in pair and not (set(pair) - {one}) & faulty for pair in pairs)

    for one in faulty:
        bad = partners(failed, one)
        if bad < 2 or 2 * bad <= partners(met, one):
            return []
    return sorted(faulty)


def deed(seen, faulty):
    """What goes wrong with the faulty ranks, seen from all sides."""
    faults = [one for one in seen if one.kinds]
    text = faults[0].text if faults else ""
    sent = any("M" in one.kinds and one.by not in faulty for one in faults)
    received = any("M" in one.kinds and one.by in faulty for one in faults)
    total = any("S" in one.kinds for one in faults)
    if sent and received:
        what = "what it sends and what it receives is altered"
    elif sent:
        what = "what it sends is altered"
    elif received:
        what = "what it receives is altered"
    elif total:
        what = "what it adds to a sum is wrong"
    else:
        what = "it exchanges nothing"
    if any("B" in one.kinds for one in faults) and (sent or received or total):
        what += ", or does not arrive"
    return what + (" (%s)" % text if text else "")


def named(rank, hosts):
    return "rank %d" % rank + (" (%s)" % hosts[rank] if hosts[rank] else "")


def why_not(failed, met, seen, hosts):
    if not failed:
        return (
            "afterwards all %d pairs of ranks passed when tested alone: the fault is intermittent, or appears only when "
            "all ranks take part" % len(met)
        )
    text = next((one.text for one in seen if one.kinds and one.text), "")
    what = " (%s)" % text if text else ""
    if len(failed) == 1:
        first, second = next(iter(failed))
        return "only %s and %s fail with each other%s: one of them, or the path between them, is faulty" % (
            named(first, hosts),
            named(second, hosts),
            what,
        )
    return (
        "%d of %d pairs of ranks fail with each other%s, among %s, and no single rank or host explains all of them" % (len(failed), len(met), what, list_ranks(sorted(set().union(*failed))))
    )


EXAMINE = "use --exclude for the host until its memory, GPU, network card and cable are checked"


def attribute_fault(hosts, seen, absent):
    confessed = sorted({one.by for one in seen if "I" in one.kinds})
    if confessed:
        first = next((one.text for one in seen if "I" in one.kinds and one.text), "")
        return FaultAttribution(confessed, "wrong before anything was sent: " + first, EXAMINE)
    pairs = [one for one in seen if one.by != one.other]
    met = {tuple(sorted((one.by, one.other))) for one in pairs}
    failed = {tuple(sorted((one.by, one.other))) for one in pairs if one.kinds}
    others = "; all other pairs passed"
    faulty = convicted(failed, met)
    if faulty:
        return FaultAttribution(faulty, deed(seen, set(faulty)) + others, EXAMINE)
    between = {tuple(sorted((hosts[a], hosts[b]))) for a, b in failed}
    if all(a != b for a, b in between):
        met_hosts = {tuple(sorted((hosts[a], hosts[b]))) for a, b in met if hosts[a] != hosts[b]}
        faulty_hosts = convicted(between, met_hosts)
        if faulty_hosts:
            ranks = [rank for rank, host in enumerate(hosts) if host in faulty_hosts]
            return FaultAttribution(ranks, "data between its host and others is altered or lost" + others, EXAMINE)
    if absent:
        return FaultAttribution(
            absent,
            "stopped responding during the search for the faulty rank",
            "check the log of that rank for a crash or a kill (out of memory?), or use --exclude if it recurs on one host",
        )
    return FaultAttribution(
        [],
        why_not(failed, met, seen, hosts),
        "run the preflight without one of their hosts, then without the other, to find the faulty one"
        if failed
        else "run the preflight again; if it recurs, use --exclude with one host at a time",
    )
