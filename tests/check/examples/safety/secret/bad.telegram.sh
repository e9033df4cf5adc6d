#!/bin/bash
curl -s https://api.telegram.org/bot123456789:BBF3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x/sendMessage
