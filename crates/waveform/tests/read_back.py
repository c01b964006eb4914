"""Says what the Python package comtrade reads from one record; see write.rs.

    read_back.py CFG DAT
"""

import json
import math
import sys

import comtrade

record = comtrade.Comtrade(ignore_warnings=True, use_double_precision=True)
record.load(sys.argv[1], sys.argv[2])
print(json.dumps({
    "station": record.station_name,
    "samples": record.total_samples,
    "start": record.start_timestamp.isoformat(),
    "channels": [[channel.name, channel.ph, channel.uu, channel.primary, channel.secondary, channel.pors]
                 for channel in record.cfg.analog_channels],
    "times": list(record.time),
    "analog": [[None if math.isnan(value) else value for value in values] for values in record.analog],
    "digital": [[int(state) for state in states] for states in record.status],
}))
