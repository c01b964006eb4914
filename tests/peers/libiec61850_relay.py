#!/usr/bin/env python3
"""A device built on libiec61850: it trips, by GOOSE, while the first member of another device's control block is true.

Usage: libiec61850_relay.py INTERFACE PEER_GOCBREF APPID

It reads the member as the library's own examples do: after each message, without a look at GooseSubscriber_isValid."""

import sys
import time

from pyiec61850 import iec61850 as lib

REPEAT_S = 0.05


def publisher(interface):
    parameters = lib.CommParameters()
    parameters.appId = 2
    parameters.vlanId = 0
    parameters.vlanPriority = 4
    lib.CommParameters_setDstAddress(parameters, 0x01, 0x0C, 0xCD, 0x01, 0x00, 0x02)
    made = lib.GoosePublisher_createEx(parameters, interface, False)
    lib.GoosePublisher_setGoCbRef(made, "IED3LD0/LLN0$GO$gcbTrip")
    lib.GoosePublisher_setDataSetRef(made, "IED3LD0/LLN0$dsTrip")
    lib.GoosePublisher_setConfRev(made, 1)
    lib.GoosePublisher_setTimeAllowedToLive(made, 500)
    return made


def main():
    interface, peer, appid = sys.argv[1], sys.argv[2], int(sys.argv[3])
    receiver = lib.GooseReceiver_create()
    lib.GooseReceiver_setInterfaceId(receiver, interface)
    subscriber = lib.GooseSubscriber_create(peer, None)
    lib.GooseSubscriber_setAppId(subscriber, appid)
    lib.GooseReceiver_addSubscriber(receiver, subscriber)
    lib.GooseReceiver_startThreadless(receiver)
    sender = publisher(interface)
    values = lib.LinkedList_create()
    trip = lib.MmsValue_newBoolean(False)
    lib.LinkedList_add(values, trip)
    value, sent = False, 0.0
    print("ready", flush=True)
    while True:
        while lib.GooseReceiver_tick(receiver):
            pass
        members = lib.GooseSubscriber_getDataSetValues(subscriber)
        now = bool(members and lib.MmsValue_getBoolean(lib.MmsValue_getElement(members, 0)))
        if now != value:
            value = now
            lib.MmsValue_setBoolean(trip, value)
            lib.GoosePublisher_increaseStNum(sender)
        elif time.monotonic() - sent < REPEAT_S:
            time.sleep(0.0005)
            continue
        lib.GoosePublisher_publish(sender, values)
        sent = time.monotonic()


main()
