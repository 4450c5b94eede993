// The token goes in the body of one request, and from there into a cookie that scripts cannot read.
(function () {
  "use strict";
  var form = document.getElementById("login"), told = document.getElementById("login-said");
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    fetch("/v1/session", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token: document.getElementById("token").value.trim() })
    }).then(function (reply) {
      if (reply.ok) { location.replace("/"); return; }
      return reply.json().then(function (answer) { told.textContent = answer.error.problem; });
    }).catch(function () { told.textContent = "The service does not answer."; });
  });
})();
