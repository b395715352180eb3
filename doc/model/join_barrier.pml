/* SPDX-License-Identifier: Apache-2.0
 *
 * The lease of a sender and the join barrier of a server.
 *
 * One server that reads version 2 is always up. One or two senders send
 * requests, and one or two servers that read only version 1 join. A sender
 * with a valid lease may send at any moment, in the version that its view
 * allows, so the monitor compares all senders and all servers in each state.
 *
 * The scheduler chooses the process that takes the next step; every other
 * process is paused. Reports and answers arrive late or never. A sender whose
 * reports are all lost stands for one that crashed. All processes have the same
 * clock.
 *
 * doc/source/protocol.rst explains the model and its variants.
 */

#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef JOINERS
#define JOINERS 2
#endif

/* Durations, in ticks of the clock, in the same order as those of the code. */
#ifndef LEASE
#define LEASE 3             /* a view may be used for less than this */
#endif
#ifndef DEAD_AFTER
#define DEAD_AFTER (LEASE + 1)  /* a sender so long silent is removed */
#endif
#ifndef BARRIER
#define BARRIER (LEASE + 2) /* longest wait at the join barrier */
#endif

#ifdef ENDLESS_BARRIER
#define OVER(joiner) false
#else
#define OVER(joiner) (barrier[joiner] >= BARRIER)
#endif

#define TICK(counter, limit) \
    if \
    :: counter < limit -> counter++ \
    :: else \
    fi

mtype = { absent, joining, up, crashed };

/* The ledger. An `atomic` block that uses it is one transaction. */
byte generation = 1;
bool listed[SENDERS];
byte seen[SENDERS];                 /* newest generation it reported */
byte silence[SENDERS];              /* ticks since its last report */
mtype recorded[JOINERS] = absent;

/* The senders. */
bool high[SENDERS];                 /* its view allows version 2 */
byte age[SENDERS] = LEASE;          /* ticks since its lease began */
byte asked[SENDERS] = LEASE;        /* ticks since it sent its last report */

/* The joining servers. */
mtype server[JOINERS] = absent;
byte barrier[JOINERS];              /* ticks at the join barrier */

/* The report of a sender on its way: the generation that the sender has seen.
 * The answer: the generation, and whether version 2 is allowed. */
chan report[SENDERS] = [1] of { byte };
chan answer[SENDERS] = [1] of { byte, bool };

proctype Sender(byte me) {
    byte view, newest;
    bool allowed;

    do
    :: atomic { /* Send a report. An earlier one, or its answer, was lost. */
        if
        :: report[me] ? _
        :: answer[me] ? _, _
        :: empty(report[me]) && empty(answer[me])
        fi;
        report[me] ! view;
        asked[me] = 0
      }
    :: atomic { /* Receive the answer. */
        answer[me] ? newest, allowed ->
        if
        :: newest != view -> view = newest; high[me] = allowed
        :: else /* the generation is unchanged, and so is the view */
        fi;
        newest = 0;
        allowed = false;
#ifdef LEASE_FROM_ANSWER
        age[me] = 0;
#else
        age[me] = asked[me];
#endif
        asked[me] = LEASE
      }
    od
}

/* Serves the reports of one sender. */
proctype Ledger(byte sender) {
    byte i, newest;
    bool allowed;

    do
    :: atomic { /* Record a report, and answer it. */
        report[sender] ? newest ->
        listed[sender] = true;
        seen[sender] = newest;
        silence[sender] = 0;
        allowed = true;
        for (i : 0 .. JOINERS - 1) {
            if
#ifdef CAP_FROM_UP_SERVERS
            :: recorded[i] == up -> allowed = false
#else
            :: recorded[i] != absent -> allowed = false
#endif
            :: else
            fi
        };
        answer[sender] ! generation, allowed;
        i = 0;
        newest = 0;
        allowed = false
      }
    od
}

/* Removes one sender whenever it is silent. */
proctype Reaper(byte sender) {
    do
    :: listed[sender] && silence[sender] >= DEAD_AFTER;
#ifndef REAPER_LOOKS_ONCE
       if
       :: atomic { listed[sender] && silence[sender] >= DEAD_AFTER ->
#endif
            listed[sender] = false;
            silence[sender] = 0;
            seen[sender] = 0
#ifndef REAPER_LOOKS_ONCE
          }
       :: else
       fi
#endif
    od
}

proctype Joiner(byte me) {
    byte i, joined;
    bool unaware;

    atomic { /* Join. */
        me == 0 || server[me - 1] != absent ->
        recorded[me] = joining;
        server[me] = joining;
        generation++;
        joined = generation;
        unaware = true;
        for (i : 0 .. JOINERS - 1) {
            if
            /* This server lowers no cap. */
#ifdef TRUST_JOINING_SERVERS
            :: i != me && recorded[i] != absent -> unaware = false
#else
            :: i != me && recorded[i] == up -> unaware = false
#endif
            :: else
            fi
        };
        i = 0
    };
#ifndef NO_BARRIER
    do
    :: atomic { /* Look for senders that do not know about this server. */
        unaware && !OVER(me) ->
        unaware = false;
        for (i : 0 .. SENDERS - 1) {
            unaware = unaware || (listed[i] && seen[i] < joined)
        };
        i = 0
      }
    :: atomic { !unaware || OVER(me) -> break }
    :: atomic { server[me] = crashed -> break }
    od;
#endif
    if
    :: atomic { server[me] == joining ->
        recorded[me] = up;
        generation++;
        server[me] = up
      }
    :: else
    fi;
    /* Crash at any time, and be removed. */
    if
    :: atomic { server[me] = crashed }
    fi;
    atomic { recorded[me] = absent; generation++ }
}

proctype Clock() {
    byte i;
    do
    :: atomic {
        for (i : 0 .. SENDERS - 1) {
            TICK(age[i], LEASE);
            TICK(asked[i], LEASE);
            if
            :: listed[i] -> TICK(silence[i], DEAD_AFTER)
            :: else
            fi
        };
        for (i : 0 .. JOINERS - 1) {
            if
            :: server[i] == joining -> TICK(barrier[i], BARRIER)
            :: else -> barrier[i] = 0
            fi
        };
        i = 0
      }
    od
}

init {
    byte i;
    atomic {
        run Clock();
        for (i : 0 .. SENDERS - 1) {
            run Sender(i);
            run Ledger(i);
            run Reaper(i)
        };
        for (i : 0 .. JOINERS - 1) {
            run Joiner(i)
        };
        i = 0
    }
}

/* A sender could send version 2 although a server does not read it. */
#define UNSAFE(s, j) (age[s] < LEASE && high[s] && server[j] == up)
#if SENDERS > 1
#define UNSAFE_FOR(j) (UNSAFE(0, j) || UNSAFE(1, j))
#else
#define UNSAFE_FOR(j) UNSAFE(0, j)
#endif

active proctype Monitor() {
#if JOINERS > 1
    atomic { UNSAFE_FOR(0) || UNSAFE_FOR(1) -> assert(false) }
#else
    atomic { UNSAFE_FOR(0) -> assert(false) }
#endif
}

ltl ends { [] (server[0] == joining -> <> (server[0] != joining)) }
