/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that a sender addresses to the servers of one manifest.
 *
 * Servers with the same manifest start, and stop at any time. A sender with a
 * valid lease may address a call to them at any moment if its view lists one
 * that is up, so the monitor compares the view with the servers in each state.
 * The scheduler, the clock, reports and answers are as in join_barrier.pml.
 *
 * doc/source/protocol.rst explains the model and its variants.
 */

#ifndef SERVERS
#define SERVERS 2
#endif

/* Durations, in ticks of the clock, in the same order as those of the code. */
#ifndef LEASE
#define LEASE 3             /* a view may be used for less than this */
#endif
#define DEAD_AFTER (LEASE + 1)  /* a sender so long silent is removed */
#ifndef BARRIER
#define BARRIER (LEASE + 2) /* longest wait of a server that stops */
#endif

#define TICK(counter, limit) \
    if \
    :: counter < limit -> counter++ \
    :: else \
    fi

mtype = { absent, joining, up };

/* The ledger. An `atomic` block that uses it is one transaction. */
byte generation = 1;
bool listed;
byte seen;                          /* newest generation the sender reported */
byte silence;                       /* ticks since the sender's last report */
mtype recorded[SERVERS] = absent;

/* The sender. */
bool addresses;                     /* its view lists a server that is up */
byte age = LEASE;                   /* ticks since its lease began */
byte asked = LEASE;                 /* ticks since it sent its last report */

/* The servers. */
byte consuming;                     /* number of servers that consume */
bool waiting[SERVERS];
byte barrier[SERVERS];              /* ticks of its wait before it stops */

/* The report: the generation that the sender has seen. The answer: the
 * generation, and whether a server is up. */
chan report = [1] of { byte };
chan answer = [1] of { byte, bool };

active proctype Sender() {
    byte view, newest;
    bool is_up;

    do
    :: atomic { /* Send a report. An earlier one, or its answer, was lost. */
        if
        :: report ? _
        :: answer ? _, _
        :: empty(report) && empty(answer)
        fi;
        report ! view;
        asked = 0
      }
    :: atomic { /* Receive the answer. */
        answer ? newest, is_up ->
        if
        :: newest != view -> view = newest; addresses = is_up
        :: else
        fi;
        newest = 0;
        is_up = false;
        age = asked;
        asked = LEASE
      }
    od
}

active proctype Ledger() {
    byte i, newest;
    bool is_up;

    do
    :: atomic { /* Record a report, and answer it. */
        report ? newest ->
        listed = true;
        seen = newest;
        silence = 0;
        for (i : 0 .. SERVERS - 1) {
#ifdef JOINING_SERVERS_ADDRESSED
            is_up = is_up || recorded[i] != absent
#else
            is_up = is_up || recorded[i] == up
#endif
        };
        answer ! generation, is_up;
        i = 0;
        newest = 0;
        is_up = false
      }
    :: atomic { /* Remove the sender. */
        listed && silence >= DEAD_AFTER ->
        listed = false;
        silence = 0;
        seen = 0
      }
    od
}

proctype Server(byte me) {
    byte i, stopped;
    bool is_last;

    atomic { recorded[me] = joining; generation++ };
#ifdef UP_BEFORE_IT_CONSUMES
    atomic { recorded[me] = up; generation++ };
    consuming++;
#else
    consuming++;
    atomic { recorded[me] = up; generation++ };
#endif
#ifdef LAST_BEFORE_THE_REPORT
    atomic {
        is_last = true;
        for (i : 0 .. SERVERS - 1) {
            is_last = is_last && (i == me || recorded[i] != up)
        };
        i = 0
    };
#endif
    atomic { /* Report that it stops, and read the view. */
        recorded[me] = joining;
        generation++;
        stopped = generation;
#ifndef LAST_BEFORE_THE_REPORT
        is_last = true;
        for (i : 0 .. SERVERS - 1) {
            is_last = is_last && recorded[i] != up
        };
        i = 0;
#endif
        waiting[me] = true
    };
#ifndef NO_BARRIER
    atomic {
        !is_last || !listed || seen >= stopped || barrier[me] >= BARRIER ->
        waiting[me] = false
    };
#endif
    consuming--;
    atomic { recorded[me] = absent; generation++ }
}

active proctype Clock() {
    byte i;
    do
    :: atomic {
        TICK(age, LEASE);
        TICK(asked, LEASE);
        if
        :: listed -> TICK(silence, DEAD_AFTER)
        :: else
        fi;
        for (i : 0 .. SERVERS - 1) {
            if
            :: waiting[i] -> TICK(barrier[i], BARRIER)
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
        for (i : 0 .. SERVERS - 1) {
            run Server(i)
        };
        i = 0
    }
}

/* A sender could address a call to servers although none consumes. */
active proctype Monitor() {
    atomic { age < LEASE && addresses && consuming == 0 -> assert(false) }
}
