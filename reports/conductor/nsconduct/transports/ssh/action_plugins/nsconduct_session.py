# SPDX-License-Identifier: MIT
# Ansible's part: an action that lasts as long as the experiment.  It runs what nsconduct sends over
# a socket on the play's host, with Ansible's connection, become and inventory, and answers.
import base64
import json
import os
import select
import shutil
import socket

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

SEVERAL = "several hosts have this name: it is a group"


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        if len(task_vars["ansible_play_hosts_all"]) != 1:
            return {**result, "failed": True, "msg": SEVERAL}
        self._socket = socket.socket(fileno=int(self._task.args["descriptor"]))
        self._idle, self._last = None, None
        self._send({"hello": True, "process": os.getpid(), "variables": self._variables(task_vars)})
        buffered = b""
        while True:
            line, found, rest = buffered.partition(b"\n")
            if found:
                buffered = rest
                self._answer(json.loads(line))
            elif self._is_idle():
                self._renew()
            else:
                received = self._socket.recv(1 << 16)
                if not received:
                    break
                buffered += received
        self._bye()
        return result

    @staticmethod
    def _variables(task_vars):
        names = ("nsconduct_lease_s", "ansible_python_interpreter", "ansible_ssh_timeout")
        return {name: str(task_vars[name]) for name in names if name in task_vars}

    def _send(self, what):
        try:
            self._socket.sendall(json.dumps(what).encode() + b"\n")
        except OSError:
            pass  # nsconduct has ended: the next read says so

    def _is_idle(self):
        wait_s = self._idle["every_s"] if self._idle else None
        return not select.select([self._socket], [], [], wait_s)[0]

    def _answer(self, request):
        if "idle" in request:
            self._idle, self._last = request["idle"], request["last"]
        else:
            self._send(self._execute(request["command"], base64.b64decode(request["input"])))

    def _execute(self, command, given):
        # Data on stdin, if only a line end, keep Ansible from using a terminal, which would mix the
        # two outputs.
        try:
            done = self._low_level_execute_command(command, in_data=given or b"\n")
        except AnsibleError as error:
            return {"unreachable": str(error)}
        return {"exit_code": done["rc"], "out": done["stdout"], "err": done["stderr"]}

    def _renew(self):
        """So that the player's processes outlive the time between two steps."""
        self._execute(self._idle["command"], b"")

    def _bye(self):
        """nsconduct has ended, perhaps killed: its folders on the player and here are removed."""
        if self._last:
            self._execute(self._last, b"")
        self._connection.reset()
        shutil.rmtree(os.environ["ANSIBLE_SSH_CONTROL_PATH_DIR"], ignore_errors=True)
